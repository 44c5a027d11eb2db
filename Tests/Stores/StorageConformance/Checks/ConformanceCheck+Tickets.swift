import AppleAccounts

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
