import StrictJSON
import Testing

extension FleetLedger {
    /// Checks that every replica has all acknowledged changes.
    func check(in fleet: Fleet) async throws {
        for (number, user) in users.enumerated() {
            let backend = try #require(fleet.backend(number % fleet.count))
            let account = try await backend.account(user.subject)
            let state = try await backend.credential(user.subject)["state"]?.string
            if user.isErased {
                #expect(account.code == "account_not_found")
                #expect(state == "revoked")
            } else if !user.isUncertain {
                #expect(account["id"]?.string == user.accountID)
                #expect(state == (user.isRevoked ? "revoked" : "authorized"))
            }
        }
        for (number, used) in nonces.enumerated() {
            let backend = try #require(fleet.backend(number % fleet.count))
            let again = try await backend.signIn(used.token, [("nonce", .string(used.nonce))])
            #expect(again.code == "nonce_used" || again.code == "credential_revoked")
        }
    }

    /// Checks that all readers of the feed have seen every event once and in the same order, and that each
    /// account was created once.
    func checkFeed(_ readers: [FleetFeedReader]) async throws {
        for reader in readers {
            try await reader.readToEnd()
            #expect(await !reader.hasGap)
        }
        let events = await readers[0].events
        for reader in readers.dropFirst() {
            let theirs = await reader.events
            #expect(theirs.map(\.id) == events.map(\.id))
        }
        #expect(Set(events.map(\.id)).count == events.count)
        let created = Dictionary(grouping: events.filter { $0.type == "account_created" }, by: \.accountID)
        let revoked = Dictionary(
            grouping: events.filter { $0.type == "credential_revoked" }, by: \.accountID)
        for user in users where !user.isUncertain {
            #expect(created[user.accountID]?.count == 1)
            #expect(revoked[user.accountID]?.count ?? 0 == (user.isRevoked || user.isErased ? 1 : 0))
        }
        let subjects = events.compactMap { $0.type == "account_created" ? $0.subject : nil }
        #expect(Set(subjects).count == subjects.count)
    }
}
