import AppleAccounts

extension ConformanceCheck {
    static let nonces = [
        ConformanceCheck("uses a minted nonce once") { store in
            try await store.signIn(.sample(nonce: .sample(1, until: 10_000), receivedAt: 5000))
            try await expectRefusal(.nonceUsed) {
                try await store.signIn(.sample(nonce: .sample(1, until: 10_000), receivedAt: 6000))
            }
            try await store.signIn(.sample(nonce: .sample(2, until: 10_000), receivedAt: 6000))
        },
        ConformanceCheck("refuses a nonce that was never minted") { store in
            try await expectRefusal(.nonceExpired) {
                try await store.signIn(.sample(nonce: .unproven(.sample(2)), receivedAt: 5000))
            }
            try expectEqual(try await store.account(.sample()), nil)
        },
        ConformanceCheck("refuses a nonce whose time is over") { store in
            try await expectRefusal(.nonceExpired) {
                try await store.signIn(.sample(nonce: .sample(1, until: 10_000), receivedAt: 10_000))
            }
            try await store.signIn(.sample(nonce: .sample(1, until: 10_000), receivedAt: 9999))
        },
        ConformanceCheck("does not use up the nonce of a refused sign-in") { store in
            try await expectRefusal(.accountNotFound) {
                try await store.signIn(.sample(createsAccount: false, nonce: .sample(1)))
            }
            try await store.signIn(.sample(nonce: .sample(1)))
        },
        ConformanceCheck("uses a nonce once within one batch") { store in
            let signIn = AccountCommand.signIn(.sample(nonce: .sample(1)))
            let result = try await store.commit([signIn, signIn])
            try expectEqual(result.results[1], .refused(AccountRefusal(.nonceUsed)))
            try await expectRefusal(.nonceUsed) { try await store.carryOut(signIn) }
        },
        ConformanceCheck("uses many nonces in one batch, of known users and of new ones") { store in
            try await store.signIn(.sample(key: .sample("p1")))
            let signIns = (1...20).map { number in
                AccountCommand.signIn(
                    .sample(key: .sample("p\(number % 4)"), nonce: .sample(UInt8(number))))
            }
            let result = try await store.commit(signIns)
            try expectEqual(
                result.results.count {
                    if case .done(.signedIn) = $0 { true } else { false }
                }, 20)
            let again = try await store.commit(signIns.reversed())
            try expectEqual(again.results.count { $0 == .refused(AccountRefusal(.nonceUsed)) }, 20)
        },
        ConformanceCheck("knows a used nonce in the token though the caller posted none") { store in
            try await store.signIn(.sample(nonce: .sample(1)))
            for nonce in [.carried(.sample(1)), .unproven(.sample(1))] as [SignInNonce] {
                try await expectRefusal(.nonceUsed) { try await store.signIn(.sample(nonce: nonce)) }
            }
        },
        ConformanceCheck("lets a token carry a nonce that was never minted here") { store in
            try await store.signIn(.sample(nonce: .carried(.sample(3)), receivedAt: 5000))
            try await store.signIn(.sample(nonce: .carried(.sample(3)), receivedAt: 6000))
        },
        ConformanceCheck("keeps the digest of a used nonce for as long as its token may be valid") { store in
            try await store.signIn(.sample(nonce: .sample(1, keptUntil: 20_000)))
            try await store.signIn(.sample(nonce: .sample(2, keptUntil: 30_000)))
            try expectEqual(try await store.purgeNonces(expiredBefore: 20_000), 0)
            try expectEqual(try await store.purgeNonces(expiredBefore: 20_001), 1)
            try expectEqual(try await store.purgeNonces(expiredBefore: 20_001), 0)
            try await expectRefusal(.nonceUsed) {
                try await store.signIn(.sample(nonce: .carried(.sample(2))))
            }
            try await store.signIn(.sample(nonce: .carried(.sample(1))))
        },
        ConformanceCheck("keeps the first key for nonces, and gives it to all") { store in
            let first = try await store.nonceKey(offering: .sample(1))
            try expectEqual(first, .sample(1))
            try expectEqual(try await store.nonceKey(offering: .sample(2)), .sample(1))
        },
    ]
}

extension ConformanceCheck {
    static let tickets = [
        ConformanceCheck("gives a ticket's payload once and before it expires") { store in
            let ticket = Ticket(
                digest: .sample(1), purpose: .webResult, payload: [0, 255, 7], expiresAt: 9000)
            try expect(try await store.insertTicket(ticket), "it is new")
            try expect(try await !store.insertTicket(ticket), "it is not new any more")
            func take(_ digest: TicketDigest, _ purpose: TicketPurpose, _ at: Moment) async throws -> [UInt8]?
            {
                try await store.takeTicket(digest: digest, purpose: purpose, at: at)
            }
            try expectEqual(try await take(.sample(2), .webResult, 1000), nil)
            try expectEqual(try await take(.sample(1), .webState, 1000), nil)
            try expectEqual(try await take(.sample(1), .webResult, 9000), nil)
            try expectEqual(try await take(.sample(1), .webResult, 8999), [0, 255, 7])
            try expectEqual(try await take(.sample(1), .webResult, 8999), nil)
        },
        ConformanceCheck("takes empty and full tickets, and none that is too long") { store in
            for (number, count) in zip((1 as UInt8)..., [0, 1, Ticket.longestPayload]) {
                let payload = [UInt8](repeating: 7, count: count)
                let ticket = Ticket(
                    digest: .sample(number), purpose: .webState, payload: payload, expiresAt: 9000)
                _ = try await store.insertTicket(ticket)
                let taken = try await store.takeTicket(digest: .sample(number), purpose: .webState, at: 1)
                try expectEqual(taken, payload)
            }
            let long = Ticket(
                digest: .sample(), purpose: .webState,
                payload: [UInt8](repeating: 7, count: Ticket.longestPayload + 1), expiresAt: 9000)
            do {
                _ = try await store.insertTicket(long)
                throw ConformanceFailure(description: "a long payload was taken")
            } catch let error as StorageError {
                try expectEqual(error.code, .valueRefused)
            }
        },
        ConformanceCheck("gives a ticket to one of eight callers at once") { store in
            for number in 1...20 as ClosedRange<UInt8> {
                let ticket = Ticket(
                    digest: .sample(number), purpose: .webResult, payload: [number], expiresAt: 9000)
                _ = try await store.insertTicket(ticket)
                let winners = try await withThrowingTaskGroup(of: Int.self) { group in
                    for _ in 0..<8 {
                        group.addTask {
                            let payload = try await store.takeTicket(
                                digest: .sample(number), purpose: .webResult, at: 1)
                            return payload == [number] ? 1 : 0
                        }
                    }
                    return try await group.reduce(0, +)
                }
                try expectEqual(winners, 1)
            }
        },
        ConformanceCheck("finds a ticket of its purpose until it expires, and keeps it") { store in
            let ticket = Ticket(digest: .sample(1), purpose: .endedSession, payload: [], expiresAt: 9000)
            _ = try await store.insertTicket(ticket)
            func has(_ digest: TicketDigest, _ purpose: TicketPurpose, _ at: Moment) async throws -> Bool {
                try await store.hasTicket(digest: digest, purpose: purpose, at: at)
            }
            for _ in 1...2 { try expect(try await has(.sample(1), .endedSession, 8999), "it is there") }
            try expect(try await !has(.sample(1), .endedSession, 9000), "it has expired")
            try expect(try await !has(.sample(2), .endedSession, 1), "it is another")
            try expect(try await !has(.sample(1), .webState, 1), "it has another purpose")
        },
        ConformanceCheck("forgets tickets whose time is over") { store in
            for (number, expiresAt) in [(1, 1000), (2, 2000), (3, 3000)] as [(UInt8, Moment)] {
                _ = try await store.insertTicket(
                    Ticket(digest: .sample(number), purpose: .webState, payload: [1], expiresAt: expiresAt))
            }
            try expectEqual(try await store.purgeTickets(expiredBefore: 2000), 1)
            try expectEqual(try await store.purgeTickets(expiredBefore: 9000), 2)
            try expectEqual(try await store.purgeTickets(expiredBefore: 9000), 0)
        },
    ]
}
