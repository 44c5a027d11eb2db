import Hummingbird

private struct Event: Decodable {
    let type: String
    let account_id: String?
    let sub: String?
    let client_id: String?
    let occurred_at: String
}

private struct EventPage: Decodable {
    let events: [Event]
    let cursor: String
}

private struct CredentialQuery: Encodable {
    let client_id: String
    let subs: [String]
}

private struct CredentialList: Decodable {
    struct Credential: Decodable {
        let sub: String
        let state: String
    }
    let credentials: [Credential]
}

extension Backend {
    /// Reads one page. The first call, before the first sign-in, keeps where the feed ends now.
    func readEvents() async throws {
        if let cursor {
            do {
                let page: EventPage = try await siwa.send(
                    .GET, "/v1/events?after=\(cursor)&wait=30", timeout: .seconds(45))
                for event in page.events { try await handle(event) }
                self.cursor = page.cursor
                return
            } catch let refused as Refused where refused.code == "cursor_ahead" {
                // siwa's database was restored from a backup.
            }
        }
        // The cursor comes before the states, so that no change is missed.
        let end: EventPage = try await siwa.send(.GET, "/v1/events?after=latest")
        try await checkStates()
        cursor = end.cursor
    }

    /// Handles one event. After a crash the same event can come again.
    private func handle(_ event: Event) async throws {
        guard let accountID = event.account_id else { return }
        let userID = user(withAccount: accountID)
        switch event.type {
        case "credential_revoked" where event.client_id == clientID:
            // The person may have signed in again, so only sessions that are not later than the event end.
            // Both times are Apple's, and all times have one format, so that they compare as text.
            revocations[accountID] = max(revocations[accountID] ?? "", event.occurred_at)
            if let userID { endSessions(of: userID, until: event.occurred_at) }
        case "account_deleted":
            guard let userID, let sub = users[userID]?.sub else { return }
            // The person may have kept the Apple Account and signed in again: ask what is true now.
            guard try await state(of: [sub]).first?.state != "authorized" else { return }
            _ = try await erase(accountID)
            forget(userID)
        case "account_erased":
            if let userID { forget(userID) }
        case "account_transferred":
            // The app is another team's now, where the person has another sub.
            if let userID { users[userID] = User(accountID: accountID, sub: event.sub) }
        default:
            break
        }
    }

    private func checkStates() async throws {
        var rest = users.compactMap { userID, user in user.sub.map { (userID, $0) } }[...]
        while !rest.isEmpty {
            let some = rest.prefix(1000)
            rest = rest.dropFirst(1000)
            // The result has the order of the query.
            for ((userID, _), credential) in zip(some, try await state(of: some.map { $0.1 }))
            where credential.state != "authorized" {
                endSessions(of: userID, until: "9999")
            }
        }
    }

    private func state(of subs: [String]) async throws -> [CredentialList.Credential] {
        let query = CredentialQuery(client_id: clientID, subs: subs)
        let list: CredentialList = try await siwa.send(.POST, "/v1/credentials/query", query)
        return list.credentials
    }
}
