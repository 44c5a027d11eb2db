public import AppleAccounts

extension ConformanceCheck {
    static let random = [doesAsTheReference(subjects: ["s1", "s2"])]

    /// Many random changes of few users.
    public static func doesAsTheReference(subjects: [AppleSubject]) -> ConformanceCheck {
        ConformanceCheck("does as the reference does with codes, tokens, erasures and transfers") { store in
            let reference = ReferenceStore()
            var commands = RandomCommands(seed: 20_261_122, subjects: subjects)
            for number in 1...600 as ClosedRange<UInt64> {
                var (mine, its): ([AccountCommand], [AccountCommand]) = ([], [])
                for _ in 0..<Int.random(in: 1...3, using: &commands.generator) {
                    switch Int.random(in: 0..<6, using: &commands.generator) {
                    case 0, 1:
                        let command = AccountCommand.signIn(commands.signIn(withCode: number))
                        mine.append(command)
                        its.append(command)
                    case 2:
                        let command = AccountCommand.notification(commands.notification())
                        mine.append(command)
                        its.append(command)
                    default:
                        let command = commands.userCommand(upTo: number)
                        if let known = try await command.command(for: store) { mine.append(known) }
                        if let known = try await command.command(for: reference) { its.append(known) }
                    }
                }
                let found = try await store.commit(mine).results.map(\.withoutIDs)
                try expectEqual(found, try await reference.commit(its).results.map(\.withoutIDs))
                for key in commands.keys {
                    try expectEqual(
                        try await store.account(key)?.withoutIDs,
                        try await reference.account(key)?.withoutIDs)
                    for clientID in commands.clientIDs {
                        try expectEqual(
                            try await store.credential(key, clientID),
                            try await reference.credential(key, clientID))
                    }
                }
                try expectEqual(try await store.waitingCodes(), try await reference.waitingCodes())
                try expectEqual(try await store.sealedCount(), try await reference.sealedCount())
            }
            try expectEqual(try await store.heldTokens(), try await reference.heldTokens())
            try expectEqual(
                try await store.allEvents().map(\.withoutIDs),
                try await reference.allEvents().map(\.withoutIDs))
        }
    }
}
