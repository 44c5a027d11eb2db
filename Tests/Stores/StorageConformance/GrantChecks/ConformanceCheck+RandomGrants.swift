import AppleAccounts
import AuthorizationServer
import TestSupport

extension ConformanceCheck {
    static let oauthAtRandom = [
        ConformanceCheck("does as the reference does with random changes of grants and credentials") {
            store in
            let reference = ReferenceStore()
            var grants = RandomGrantCommands(seed: 20_261_127)
            var accounts = RandomCommands(seed: 20_261_124)
            for _ in 0..<800 {
                if Int.random(in: 0..<12, using: &grants.generator) == 0 {
                    try await change(&accounts, store, reference)
                } else if Int.random(in: 0..<4, using: &grants.generator) == 0 {
                    let batch = accounts.batch()
                    let found = try await store.commit(batch).results.map(\.withoutIDs)
                    try expectEqual(found, try await reference.commit(batch).results.map(\.withoutIDs))
                } else {
                    try await commit(&grants, accounts.keys, store, reference)
                }
                try await compare(store, reference, accounts.keys)
            }
            try expectEqual(
                try await store.allEvents().map(\.withoutIDs),
                try await reference.allEvents().map(\.withoutIDs))
            // Compared above, with the events.
            let reports = try await store.allEvents().count { $0.grant?.endedToken != nil }
            try expect(reports > 3, "some tokens of Google have ended")
            try await compareAudit(store, reference)
            try expectEqual(
                try await store.purgeGrants(at: 90_000_000), try await reference.purgeGrants(at: 90_000_000))
        }
    ]

    /// Compares the audit logs, without the salts and the IDs of accounts.
    private static func compareAudit(
        _ store: any ConformingStore, _ reference: ReferenceStore
    ) async throws {
        let (mine, its) = (try await store.verifiedAudit(), try await reference.verifiedAudit())
        try expectEqual(mine.map(\.facts), its.map(\.facts))
        try expectEqual(
            mine.map(\.entry.person?.tokenFamily), its.map(\.entry.person?.tokenFamily))
        try expectEqual(mine.map { $0.entry.person == nil }, its.map { $0.entry.person == nil })
        try expect(mine.count > 100, "many changes are in the audit log")
    }

    /// Disables, enables or signs out an account. Every second change enables, so that most users have tokens.
    private static func change(
        _ random: inout RandomCommands, _ store: any ConformingStore, _ reference: ReferenceStore
    ) async throws {
        let (key, moment) = (random.pick(random.keys), random.moment())
        let command =
            random.pick([true, false])
            ? UserCommand(key: key) { .enable(.sample($0, at: moment)) } : random.accountChange(of: key)
        guard let mine = try await command.command(for: store),
            let its = try await command.command(for: reference)
        else { return }
        let found = try await store.commit([mine]).results.map(\.withoutIDs)
        try expectEqual(found, try await reference.commit([its]).results.map(\.withoutIDs))
    }

    private static func commit(
        _ random: inout RandomGrantCommands, _ keys: [SubjectKey], _ store: any ConformingStore,
        _ reference: ReferenceStore
    ) async throws {
        var (mine, its): ([GrantCommand], [GrantCommand]) = ([], [])
        for _ in 0..<Int.random(in: 1...4, using: &random.generator) {
            let command = random.command(for: keys)
            mine.append(command.make(try await store.account(command.key)?.id ?? AccountID(.sample(1))))
            its.append(command.make(try await reference.account(command.key)?.id ?? AccountID(.sample(1))))
        }
        let found = try await store.commit(grants: mine).results.map(outline)
        try expectEqual(found, try await reference.commit(grants: its).results.map(outline))
    }

    private static func compare(
        _ store: any ConformingStore, _ reference: ReferenceStore, _ keys: [SubjectKey]
    ) async throws {
        for key in keys {
            guard let mine = try await store.account(key)?.id, let its = try await reference.account(key)?.id
            else { continue }
            try expectEqual(
                try await store.grants(of: mine).map(outline),
                try await reference.grants(of: its).map(outline))
        }
        for number in 1...40 as ClosedRange<UInt64> {
            let digest = DeviceAuthorization.sample(number).userCodeDigest
            let mine = try await store.device(withUserCode: digest)
            try expectEqual(mine, try await reference.device(withUserCode: digest))
        }
        for family in 1...400 as ClosedRange<UInt64> where family % 7 == 0 {
            let mine = try await store.status(ofFamily: .sample(family))
            let its = try await reference.status(ofFamily: .sample(family))
            try expectEqual(mine?.family, its?.family)
            try expectEqual(mine?.status.credential, its?.status.credential)
            try expectEqual(mine?.status.account.disabling, its?.status.account.disabling)
            try expectEqual(mine?.status.account.sessionsEndedAt, its?.status.account.sessionsEndedAt)
            try expectEqual(mine.map { outline($0.grant) }, its.map { outline($0.grant) })
        }
    }

    /// Description of a result without the IDs of accounts, which may differ between stores.
    private static func outline(_ result: Result<GrantOutcome, any Error>) -> String {
        switch result {
        case .failure(let error): "\((error as? GrantRefusal)?.code.rawValue ?? "\(error)")"
        case .success(.authorized(let grant)): "authorized \(outline(grant))"
        case .success(.ended(let grant)): "ended \(outline(grant))"
        case .success(.endedAll(let grants)): "ended \(grants.map { outline($0) })"
        case .success(.revoked): "revoked"
        case .success(.learned(let count)): "learned \(count)"
        case .success(.googleEvent(let receipt)):
            "\(receipt.handling.rawValue) \(receipt.unmatched.map(\.rawValue))"
        case .success(.deviceBegun(let device)): "begun \(device)"
        case .success(.deviceDecided(let grant)): "decided \(grant.map { outline($0) } ?? "no")"
        case .success(.issued(let tokens)):
            "\(outline(tokens.grant)) \(tokens.family) \(tokens.scope) \(tokens.account.subject) \(tokens.hasNewRefreshToken)"
        }
    }

    private static func outline(_ grant: GrantRecord) -> String {
        "\(grant.id.rawValue) \(grant.oauthClientID) \(grant.clientID) \(grant.scope) \(grant.createdAt)"
            + " \(grant.consentedAt) \(grant.authorizedAt) \(grant.googleSubject ?? "-")"
    }
}
