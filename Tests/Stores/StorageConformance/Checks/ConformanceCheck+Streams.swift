import AppleAccounts
import AuthorizationServer

extension ConformanceCheck {
    private static let name: ReceiverName = "client:shop"

    static let streams = [
        ConformanceCheck("lets one of two polls that have read the same write") { store in
            try await store.addReceivers([name], at: 1000)
            try await store.signIn(.sample())
            let read = try unwrap(try await store.receiver(name))
            let retry = DeliveryRetry(sequence: 1, attempts: 1, dueAt: 61_000, waitingSince: 1000)
            let first = ReceiverProgress(cursor: 1, changed: [retry], notBefore: 1000, countsAsClaim: true)
            try expectEqual(try await store.settle(read.record, first), true)
            let second = ReceiverProgress(cursor: 2, notBefore: 2000, countsAsClaim: true)
            try expectEqual(try await store.settle(read.record, second), false)
            let stored = try unwrap(try await store.receiver(name))
            try expectEqual(stored.record.cursor, 1)
            try expectEqual(stored.record.claims, 1)
            try expectEqual(stored.retries, [retry])
            try expectEqual(try await store.receiver("unknown"), nil)
        },
        ConformanceCheck("writes for one of eight polls at the same time") { store in
            try await store.addReceivers([name], at: 1000)
            try await store.signIn(.sample())
            let read = try unwrap(try await store.receiver(name))
            let writes = try await withThrowingTaskGroup(of: Bool.self) { group in
                for number in 1...8 {
                    group.addTask {
                        try await store.settle(
                            read.record,
                            ReceiverProgress(
                                cursor: 1, notBefore: Moment(milliseconds: Int64(number)),
                                countsAsClaim: true))
                    }
                }
                return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            try expectEqual(writes, 1)
        },
        ConformanceCheck("keeps one verification of a receiver, and accepts one a minute") { store in
            try await store.addReceivers([name], at: 1000)
            try expectEqual(try await store.nextReceiverDue([name]), nil)
            try expectEqual(try await request(1, in: store, at: 10_000), .accepted)
            try expectEqual(try await request(2, in: store, at: 69_999), .tooSoon)
            try expectEqual(try await store.receiver(name)?.record.verification, verification(1))
            try expectEqual(try await store.receiver(name)?.record.verificationAskedAt, 10_000)
            // Work for the worker that pushes.
            try expectEqual(try await store.nextReceiverDue([name]), 1000)
            let claimed = try await store.claimReceivers([name], at: 20_000, leaseUntil: 50_000)
            try expectEqual(claimed.map(\.record.verification), [verification(1)])
            // Asked for once more meanwhile: only the one that was sent is over.
            try expectEqual(try await request(3, in: store, at: 70_000), .accepted)
            let sent = ReceiverProgress(cursor: 0, notBefore: 21_000, verified: verification(1).id)
            try expectEqual(try await store.settle(claimed[0].record, sent), true)
            try expectEqual(try await store.receiver(name)?.record.verification, verification(3))
            let both = ReceiverProgress(cursor: 0, notBefore: 21_000, verified: verification(3).id)
            try expectEqual(try await store.settle(claimed[0].record, both), true)
            try expectEqual(try await store.receiver(name)?.record.verification, nil)
            try expectEqual(try await store.receiver(name)?.record.verificationAskedAt, 70_000)
            try expectEqual(try await store.nextReceiverDue([name]), nil)
        },
        ConformanceCheck("accepts one of eight requests for a verification at the same time") { store in
            try await store.addReceivers([name], at: 1000)
            let results = try await withThrowingTaskGroup(of: VerificationRequestResult.self) { group in
                for number in 1...8 {
                    group.addTask { try await request(UInt64(number), in: store, at: 10_000) }
                }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            try expectEqual(results.filter { $0 == .accepted }.count, 1)
            try expectEqual(results.filter { $0 == .tooSoon }.count, 7)
        },
        ConformanceCheck("sends no verification to a paused receiver, nor to an unknown one") { store in
            try await store.addReceivers([name], at: 1000)
            try await store.signIn(.sample())
            let record = try unwrap(try await store.receiver(name)).record
            _ = try await store.settle(
                record, ReceiverProgress(cursor: 0, notBefore: 1000, pausedAt: 5000, countsAsClaim: true))
            try expectEqual(try await request(1, in: store, at: 10_000), .paused)
            try expectEqual(
                try await store.requestVerification(verification(1), of: "unknown", at: 10_000),
                .unknownReceiver)
            try expectEqual(try await store.receiver(name)?.record.verification, nil)
        },
        ConformanceCheck("finds the last event about a grant before an event") { store in
            let grant = try await store.link(1, authorizedAt: 1000)
            let account = grant.accountID
            let created = try unwrap(try await store.allEvents().last)
            try expectEqual(created.kind, .grantCreated)
            func last(_ client: OAuthClientID, before sequence: Int64) async throws -> Int64? {
                try await store.grantEventSequence(of: account, for: client, before: sequence)
            }
            try expectEqual(try await last("phone", before: created.sequence), nil)
            try expectEqual(try await last("phone", before: created.sequence + 1), created.sequence)
            try expectEqual(try await last("web", before: .max), nil)
            let stranger = try await store.link(3, key: .sample("stranger"), authorizedAt: 1000)
            try expectEqual(try await last("phone", before: .max), created.sequence)
            try expect(stranger.accountID != account, "two users")
        },
        ConformanceCheck("knows the grant of the moment, whatever becomes of it later") { store in
            let account = try await store.signIn(.sample(authorizedAt: 1000)).account
            func disable(at moment: Moment) async throws -> Int64 {
                try await store.change(DisableCommand.sample(account, at: moment))
                try await store.change(EnableCommand.sample(account, at: moment))
                return try await store.lastEventSequence()
            }
            func last(before sequence: Int64) async throws -> AccountEvent.Kind? {
                let found = try await store.grantEventSequence(
                    of: account.id, for: "phone", before: sequence)
                guard let found else { return nil }
                let events = try await store.events(numbered: [found])
                return events.first?.kind
            }
            let before = try await disable(at: 1_500_000)
            try await store.authorize(.sample(1, account: account.id, authenticatedAt: 1000))
            let during = try await disable(at: 2_100_000)
            try await store.carryOut(
                .endAll(
                    EndGrantsCommand(
                        accountID: account.id, scope: .all, reason: .unlinked, moment: 2_300_000)))
            let after = try await disable(at: 2_400_000)
            try await store.authorize(
                .sample(2, account: account.id, authenticatedAt: 1000, at: 2_500_000))
            try expectEqual(try await last(before: before), nil)
            try expectEqual(try await last(before: during), .grantCreated)
            try expectEqual(try await last(before: after), .grantRevoked)
        },
        ConformanceCheck("tells in the feed which clients an erased user had granted something") { store in
            let grant = try await store.link(1, authorizedAt: 1000)
            let account = try unwrap(try await store.account(grant.accountID))
            try await store.erase(.sample(account: account, at: 9000))
            let erased = try unwrap(try await store.allEvents().last)
            try await expectEnd(.erased, with: erased, of: .accountErased, account.id, in: store)
            try expectEqual(erased.subject, nil)
        },
        ConformanceCheck("tells in the feed which clients a user had who was signed out") { store in
            let grant = try await store.link(1, authorizedAt: 1000)
            let account = try unwrap(try await store.account(grant.accountID))
            try await store.change(SignOutCommand.sample(account))
            let ended = try unwrap(try await store.allEvents().last { $0.kind == .sessionsEnded })
            try await expectEnd(.signedOut, with: ended, of: .sessionsEnded, account.id, in: store)
        },
    ]

    /// The grant ended right before the event, in its transaction.
    private static func expectEnd(
        _ reason: GrantEndReason, with event: AccountEvent, of kind: AccountEvent.Kind, _ account: AccountID,
        in store: any ConformingStore
    ) async throws {
        try expectEqual(event.kind, kind)
        let sequence = try unwrap(
            try await store.grantEventSequence(of: account, for: "phone", before: event.sequence))
        let last = try unwrap(try await store.events(numbered: [sequence]).first)
        try expectEqual(last.grant?.reason, reason)
        try expectEqual(last.recordedAt, event.recordedAt)
        try expectEqual(last.accountID, event.accountID)
    }

    private static func verification(_ number: UInt64) -> StreamVerification {
        StreamVerification(id: EventID(.sample(number)), state: "state \(number)")
    }

    private static func request(
        _ number: UInt64, in store: any ConformingStore, at moment: Moment
    ) async throws -> VerificationRequestResult {
        try await store.requestVerification(verification(number), of: name, at: moment)
    }
}
