import AppleAccounts

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
