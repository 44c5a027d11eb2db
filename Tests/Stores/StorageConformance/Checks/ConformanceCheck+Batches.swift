import AppleAccounts

extension ConformanceCheck {
    static let batches = [
        ConformanceCheck("takes an empty batch") { store in
            try expectEqual(try await store.commit([]), CommitResult(results: [], lastEventSequence: nil))
        },
        ConformanceCheck("lets a refused command fail alone") { store in
            let result = try await store.commit([
                .signIn(.sample(key: .sample("one"))),
                .signIn(.sample(key: .sample("two"), createsAccount: false)),
                .signIn(.sample(key: .sample("three"))),
            ])
            try expectEqual(result.results.count, 3)
            try expectEqual(result.results[1], .refused(AccountRefusal(.accountNotFound)))
            try expect(try await store.account(.sample("one")) != nil, "the first is there")
            try expectEqual(try await store.account(.sample("two")), nil)
            try expect(try await store.account(.sample("three")) != nil, "the third is there")
        },
        ConformanceCheck("lets later commands see what earlier ones did") { store in
            let result = try await store.commit([
                .signIn(.sample(authorizedAt: 5000)), .notification(.sample(at: 6000)),
                .signIn(.sample(authorizedAt: 5500)), .signIn(.sample(authorizedAt: 7000)),
            ])
            guard case .done(.signedIn(let first)) = result.results[0],
                case .done(.signedIn(let last)) = result.results[3]
            else { throw ConformanceFailure(description: "found \(result.results)") }
            try expect(first.isNewAccount && !last.isNewAccount, "one account is made")
            try expectEqual(result.results[2], .refused(AccountRefusal(.credentialRevoked)))
            try expectEqual(try await store.account(.sample()), last.account)
            try expectEqual(
                try await store.eventKinds(),
                [.accountCreated, .credentialAuthorized, .credentialRevoked, .credentialAuthorized])
        },
        ConformanceCheck("keeps what eight writers write at once") { store in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for writer in 0..<8 {
                    group.addTask {
                        for number in 0..<20 {
                            // Half of them meet at the same users.
                            let name = number % 2 == 0 ? "shared-\(number)" : "own-\(writer)-\(number)"
                            let key = SubjectKey.sample(.init(stringLiteral: name))
                            try await store.signIn(.sample(key: key))
                        }
                    }
                }
                try await group.waitForAll()
            }
            let events = try await store.allEvents()
            let created = events.filter { $0.kind == .accountCreated }
            try expectEqual(created.count, 10 + 8 * 10)
            try expectEqual(Set(created.map(\.subject)).count, created.count)
            try expectEqual(Set(created.compactMap(\.accountID)).count, created.count)
            try expectEqual(Set(events.map(\.sequence)).count, events.count)
        },
        ConformanceCheck("does as the reference does, whatever comes") { store in
            let reference = ReferenceStore()
            var commands = RandomCommands(seed: 20_261_121)
            for _ in 0..<400 {
                let batch = commands.batch()
                let found = try await store.commit(batch).results.map(\.withoutIDs)
                try expectEqual(found, try await reference.commit(batch).results.map(\.withoutIDs))
            }
            for key in commands.keys {
                try expectEqual(
                    try await store.account(key)?.withoutIDs, try await reference.account(key)?.withoutIDs)
                for clientID in commands.clientIDs {
                    try expectEqual(
                        try await store.credential(key, clientID),
                        try await reference.credential(key, clientID))
                }
            }
            try expectEqual(
                try await store.allEvents().map(\.withoutIDs),
                try await reference.allEvents().map(\.withoutIDs))
        },
    ]
}
