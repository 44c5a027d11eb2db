import AppleAccounts
import AuthorizationServer

extension ConformanceCheck {
    private static let names: [ReceiverName] = ["backend", "mail"]
    private static let end: Moment = 40_000

    static let receivers = [
        ConformanceCheck("begins at the end of the feed for a new receiver, and keeps a known one") { store in
            try await store.signIn(.sample())
            try await store.addReceivers(["backend"], at: 1000)
            try await store.signIn(.sample(key: .sample("002000.0123456789abcdef.0123")))
            try await store.addReceivers(names, at: 2000)
            let stored = try await store.receivers()
            try expectEqual(stored.map(\.record.name), names)
            try expectEqual(stored.map(\.record.cursor), [2, 4])
            try expectEqual(stored.map(\.record.notBefore), [1000, 2000])
            try expectEqual(stored.map(\.retries), [[], []])
        },
        ConformanceCheck("claims a receiver with new events, once") { store in
            try await store.addReceivers(names, at: 1000)
            try expectEqual(try await claim(store, at: 1000), [])
            try expectEqual(try await store.nextReceiverDue(names), nil)
            try await store.signIn(.sample())
            try expectEqual(try await store.nextReceiverDue(names), 1000)
            try expectEqual(try await claim(store, at: 999), [])
            let first = try await claim(store, ["mail"], at: 1000)
            try expectEqual(first.map(\.record.name), ["mail"])
            try expectEqual(first.map(\.record.claims), [1])
            try expectEqual(first.map(\.record.notBefore), [end])
            try expectEqual(try await claim(store, at: 1000).map(\.record.name), ["backend"])
            try expectEqual(try await claim(store, at: 39_999), [])
            // The claims end by themselves.
            try expectEqual(try await store.nextReceiverDue(names), end)
            try expectEqual(try await store.nextReceiverDue(["other"]), nil)
            let second = try await store.claimReceivers(names, at: end, leaseUntil: 80_000)
            try expectEqual(second.map(\.record.claims), [2, 2])
        },
        ConformanceCheck("renews the last claim only, and tells which it was") { store in
            let claimed = try await oneClaim(store)
            try expectEqual(try await store.renewClaims([claimed], leaseUntil: 50_000), ["backend"])
            try expectEqual(try await store.receivers().map(\.record.notBefore), [50_000])
            try expectEqual(try await claim(store, at: 49_999), [])
            let next = try await claim(store, at: 50_000)
            try expectEqual(next.map(\.record.claims), [2])
            try expectEqual(try await store.renewClaims([claimed], leaseUntil: 90_000), [])
            try expectEqual(try await store.receivers(), next)
            try expectEqual(try await store.renewClaims([], leaseUntil: 90_000), [])
        },
        ConformanceCheck("ends a claim that nobody has renewed since it was seen, and no other") { store in
            let claimed = try await oneClaim(store)
            _ = try await store.renewClaims([claimed], leaseUntil: 50_000)
            try expectEqual(try await store.endClaim(claimed, at: 3000), false)
            let seen = try unwrap(try await store.dueReceivers(names).first)
            try expectEqual(seen.record.notBefore, 50_000)
            try expectEqual(seen.at, 50_000)
            try expectEqual(try await store.endClaim(seen.record, at: 3000), true)
            try expectEqual(try await claim(store, at: 2999), [])
            try expectEqual(try await claim(store, at: 3000).map(\.record.claims), [2])
            try expectEqual(try await store.endClaim(seen.record, at: 4000), false)
            // The worker that was silent writes nothing any more.
            try expectEqual(
                try await store.settle(claimed, ReceiverProgress(cursor: 2, notBefore: 4000)), false)
        },
        ConformanceCheck("gives a receiver to one of eight workers") { store in
            try await store.addReceivers(names, at: 1000)
            try await store.signIn(.sample())
            let claims = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<8 { group.addTask { try await claim(store, at: 1000).count } }
                return try await group.reduce(0, +)
            }
            try expectEqual(claims, 2)
        },
        ConformanceCheck("writes the progress of the last claim only") { store in
            let claimed = try await oneClaim(store)
            let retries = [retry(1), retry(2, attempts: 0)]
            let progress = ReceiverProgress(cursor: 2, changed: retries, notBefore: 3000)
            try expectEqual(try await store.settle(claimed, progress), true)
            try expectEqual(try await store.receivers().map(\.retries), [retries])
            try expectEqual(try await store.receivers().map(\.record.cursor), [2])
            let next = try await claim(store, at: 6000)
            try expectEqual(next.map(\.retries), [retries])
            let late = ReceiverProgress(cursor: 0, removed: [1, 2], notBefore: 0, pausedAt: 1)
            try expectEqual(try await store.settle(claimed, late), false)
            try expectEqual(try await store.receivers(), next)
            let changed = ReceiverProgress(
                cursor: 2, changed: [retry(2, attempts: 4)], removed: [1], notBefore: 7000)
            try expectEqual(try await store.settle(next[0].record, changed), true)
            try expectEqual(try await store.receivers().map(\.retries), [[retry(2, attempts: 4)]])
        },
        ConformanceCheck("claims a receiver for a due retry, also without new events") { store in
            let claimed = try await oneClaim(store)
            let progress = ReceiverProgress(cursor: 2, changed: [retry(1)], notBefore: 3000)
            _ = try await store.settle(claimed, progress)
            try expectEqual(try await store.nextReceiverDue(names), 5000)
            try expectEqual(try await claim(store, at: 4999), [])
            try expectEqual(try await claim(store, at: 5000).map(\.retries), [[retry(1)]])
        },
        ConformanceCheck("leaves the feed alone when a receiver has no room for more retries") { store in
            let claimed = try await oneClaim(store)
            let most = Int64(DeliveryRetry.mostPerReceiver)
            let progress = ReceiverProgress(
                cursor: 0, changed: (1...most).map { retry($0) }, notBefore: 3000)
            _ = try await store.settle(claimed, progress)
            try expectEqual(try await store.nextReceiverDue(names), 5000)
            try expectEqual(try await claim(store, at: 4999), [])
            let full = try await claim(store, at: 5000)
            try expectEqual(full.map(\.retries.count), [Int(most)])
            let less = ReceiverProgress(
                cursor: 0, changed: (2...most).map { retry($0, due: 90_000) }, removed: [1], notBefore: 6000)
            _ = try await store.settle(full[0].record, less)
            try expectEqual(try await store.nextReceiverDue(names), 6000)
        },
        ConformanceCheck("claims no paused receiver until it is resumed") { store in
            let claimed = try await oneClaim(store)
            let paused = ReceiverProgress(cursor: 0, changed: [retry(1)], notBefore: 3000, pausedAt: 2500)
            _ = try await store.settle(claimed, paused)
            try expectEqual(try await store.nextReceiverDue(names), nil)
            try expectEqual(try await claim(store, at: 90_000), [])
            try expectEqual(try await store.receivers().map(\.record.pausedAt), [2500])
            try expectEqual(try await store.resumeReceiver("backend", at: 91_000), true)
            let resumed = try await store.receivers()
            try expectEqual(resumed.map(\.record.pausedAt), [nil])
            try expectEqual(
                resumed.map(\.retries),
                [[DeliveryRetry(sequence: 1, attempts: 1, dueAt: 91_000, waitingSince: 91_000)]])
            try expectEqual(try await claim(store, at: 91_000).count, 1)
            try expectEqual(try await store.resumeReceiver("other", at: 91_000), false)
        },
        ConformanceCheck("moves a receiver, and ends its claim") { store in
            let claimed = try await oneClaim(store)
            let failed = ReceiverProgress(cursor: 2, changed: [retry(1)], notBefore: end)
            _ = try await store.settle(claimed, failed)
            try expectEqual(try await store.moveReceiver("backend", to: 1, at: 2000), true)
            try expectEqual(
                try await store.settle(claimed, ReceiverProgress(cursor: 2, notBefore: end)), false)
            let moved = try await claim(store, at: 2000)
            try expectEqual(moved.map(\.record.cursor), [1])
            try expectEqual(moved.map(\.retries), [[]])
            try expectEqual(try await store.moveReceiver("other", to: 1, at: 2000), false)
        },
        ConformanceCheck("finds events by number, and the place of a moment in the feed") { store in
            try await store.signIn(.sample(receivedAt: 5000))
            try await store.signIn(.sample(key: .sample("002000.0123456789abcdef.0123"), receivedAt: 7000))
            let all = try await store.allEvents()
            try expectEqual(try await store.events(numbered: [4, 99, 1]), [all[0], all[3]])
            try expectEqual(try await store.events(numbered: []), [])
            try expectEqual(try await store.eventSequence(before: 5000), 0)
            try expectEqual(try await store.eventSequence(before: 5001), 2)
            try expectEqual(try await store.eventSequence(before: 7001), 4)
        },
        ConformanceCheck("names no erased user in an event that waits for another attempt") { store in
            let account = try await store.signIn(.sample()).account
            try await store.erase(.sample(account: account))
            try expectEqual(try await store.events(numbered: [1]).map(\.subject), [nil])
            try expectEqual(try await store.events(numbered: [1]).map(\.accountID), [account.id])
        },
    ]

    private static func claim(
        _ store: any ConformingStore, _ names: [ReceiverName] = names, at moment: Moment
    ) async throws -> [ClaimedReceiver] {
        try await store.claimReceivers(names, at: moment, leaseUntil: end)
            .sorted { $0.record.name < $1.record.name }
    }

    /// Adds one receiver and two events, and claims the receiver.
    private static func oneClaim(_ store: any ConformingStore) async throws -> ReceiverRecord {
        try await store.addReceivers(["backend"], at: 1000)
        try await store.signIn(.sample())
        let claimed = try await claim(store, at: 1000)
        try expectEqual(claimed.map(\.retries), [[]])
        return claimed[0].record
    }

    private static func retry(
        _ sequence: Int64, attempts: Int64 = 1, due: Moment = 5000
    ) -> DeliveryRetry {
        DeliveryRetry(sequence: sequence, attempts: attempts, dueAt: due, waitingSince: 2000)
    }
}

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
