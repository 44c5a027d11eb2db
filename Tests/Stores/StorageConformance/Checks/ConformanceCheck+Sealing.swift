import AppleAccounts

extension ConformanceCheck {
    static let sealing = [
        ConformanceCheck("goes through every sealed secret once, in pages") { store in
            for number in 1...5 as ClosedRange<UInt64> {
                try await store.hold(number, key: .sample("held-\(number)"))
                try await store.signIn(
                    .sample(key: .sample("waiting-\(number)"), authorizationCode: .sample(100 + number)))
                let gone = try await store.hold(200 + number, key: .sample("gone-\(number)"))
                try await store.erase(.sample(number, account: gone))
            }
            try await store.hold(6, key: .sample("held-1"), issuedTo: "com.example.web")
            try expectEqual(try await store.sealedCount(), 16)
            for limit in [1, 3, 16, 100] {
                let rows = try await pages(of: store, limit: limit)
                try expectEqual(rows.count, 16)
                try expectEqual(Set(rows.map(\.cursor)).count, 16)
                try expectEqual(rows.map(\.cursor.place.rawValue), rows.map(\.cursor.place.rawValue).sorted())
                for row in rows where row.purpose == .authorizationCode {
                    let expected = "code \(row.cursor.id.low) of \(row.accountID.rawValue)"
                    try expectEqual(row.sealed, .sample(expected))
                }
            }
        },
        ConformanceCheck("replaces a sealed secret only if it has not changed meanwhile") { store in
            let account = try await store.hold(1)
            try await store.signIn(.sample(key: .sample("b"), authorizationCode: .sample(2)))
            let gone = try await store.hold(3, key: .sample("c"))
            try await store.erase(.sample(account: gone))
            for row in try await store.sealedSecrets(after: nil, limit: 9) {
                try expect(try await store.replaceSealed(row, with: .sample("new")), "it was there")
                try expect(try await !store.replaceSealed(row, with: .sample("other")), "it is another now")
            }
            let rows = try await store.sealedSecrets(after: nil, limit: 9)
            try expectEqual(rows.map(\.sealed), Array(repeating: .sample("new"), count: 3))
            // A newer token takes the place of one that was just read.
            try await store.hold(4, authorizedAt: 2_000_000)
            try expect(try await !store.replaceSealed(rows[1], with: .sample("old")), "it was replaced")
            try expectEqual(try await store.heldTokens(), [.sample(4)])
            try await store.notify(.sample(at: 3_000_000))
            try expect(try await !store.replaceSealed(rows[1], with: .sample("old")), "it is gone")
            try expectEqual(try await store.account(.sample())?.id, account.id)
        },
        ConformanceCheck("replaces many sealed secrets at once, and leaves those that have changed") {
            store in
            try expectEqual(try await store.replaceSealed([]), 0)
            for number in 1...100 as ClosedRange<UInt64> {
                try await store.hold(number, key: .sample("held-\(number)"))
                try await store.signIn(
                    .sample(key: .sample("waiting-\(number)"), authorizationCode: .sample(100 + number)))
                let gone = try await store.hold(200 + number, key: .sample("gone-\(number)"))
                try await store.erase(.sample(number, account: gone))
            }
            let rows = try await store.sealedSecrets(after: nil, limit: 1000)
            try expectEqual(rows.count, 300)
            // Of each kind one is another by now, and one is named twice.
            let changed = [rows[7], rows[107], rows[207]]
            for row in changed {
                try expect(try await store.replaceSealed(row, with: .sample("newer")), "it was there")
            }
            let changes = (rows + [rows[0], rows[100], rows[200]]).map { row in
                SealedChange(row, to: .sample("resealed \(row.sealed.bytes.count)"))
            }
            try expectEqual(try await store.replaceSealed(changes), 297)
            let after = try await store.sealedSecrets(after: nil, limit: 1000)
            try expectEqual(after.map(\.cursor), rows.map(\.cursor))
            for (old, new) in zip(rows, after) {
                let expected =
                    changed.contains(old) ? "newer" : "resealed \(old.sealed.bytes.count)"
                try expectEqual(new.sealed, .sample(expected))
            }
            try expectEqual(try await store.replaceSealed(changes), 0)
        },
        ConformanceCheck("misses no secret that was there, whatever changes while it goes through") { store in
            for number in 1...12 as ClosedRange<UInt64> {
                try await store.hold(number, key: .sample("held-\(number)"))
                try await store.signIn(
                    .sample(key: .sample("waiting-\(number)"), authorizationCode: .sample(100 + number)))
            }
            var seen: Set<SealedSecret> = []
            var cursor: SealedCursor?
            var turn: UInt64 = 1
            while let row = try await store.sealedSecrets(after: cursor, limit: 1).first {
                seen.insert(row.sealed)
                cursor = row.cursor
                // Some move on, some go, some come.
                if turn <= 6 {
                    let waiting = try unwrap(try await store.account(.sample("waiting-\(turn)")))
                    try await store.exchange(
                        .sample(code: 100 + turn, account: waiting, token: 200 + turn))
                    let held = try unwrap(try await store.account(.sample("held-\(turn)")))
                    try await store.erase(.sample(turn, account: held))
                    try await store.hold(300 + turn, key: .sample("new-\(turn)"))
                }
                turn += 1
                try expect(turn < 200, "it comes to an end")
            }
            for number in 1...12 {
                try expect(seen.contains(.sample("token \(number)")), "token \(number) was met")
            }
            for number in 7...12 {
                let waiting = try unwrap(try await store.account(.sample("waiting-\(number)")))
                let code = SealedSecret.sample("code \(100 + number) of \(waiting.id.rawValue)")
                try expect(seen.contains(code), "code \(100 + number) was met")
            }
            for number in 1...6 {
                try expect(seen.contains(.sample("token \(200 + number)")), "token \(200 + number) was met")
            }
        },
    ]

    private static func pages(of store: any ConformingStore, limit: Int) async throws -> [SealedRow] {
        var rows: [SealedRow] = []
        while true {
            let page = try await store.sealedSecrets(after: rows.last?.cursor, limit: limit)
            try expect(page.count <= limit, "a page is no longer than asked for")
            rows += page
            if page.count < limit { return rows }
        }
    }
}
