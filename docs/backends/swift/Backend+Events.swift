import Hummingbird

private struct Event: Decodable {
    var type: String
    var account_id: String?
    var team_id: String?
    var sub: String?
    var client_id: String?
    var occurred_at: String
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
        let reason: String?
        let since: String?
    }
    let credentials: [Credential]
}

extension Backend {
    /// Reads one page.
    func readEvents() async throws {
        guard !cursor.isEmpty else { return try await beginFeed() }
        do {
            let page: EventPage = try await siwa.send(
                .GET, "/v1/events?after=\(cursor)&wait=30", timeout: .seconds(45))
            for event in page.events { try await handle(event) }
            cursor = page.cursor
        } catch let refused as Refused where refused.code == "cursor_ahead" {
            // siwa's database was restored from a backup.
            try await beginFeed()
        }
    }

    /// Begins at the current end of the feed, when there is no usable cursor. The states replace earlier
    /// events.
    func beginFeed() async throws {
        // Before the states, so that no change is missed.
        let end: EventPage = try await siwa.send(.GET, "/v1/events?after=latest")
        var latest: [String: String] = [:]
        for session in sessions.values {
            latest[session.userID] = max(latest[session.userID] ?? "", session.since ?? "")
        }
        var rest = users.compactMap { userID, user in
            user.sub.map { (sub: $0, accountID: user.accountID, since: latest[userID] ?? "") }
        }[...]
        while !rest.isEmpty {
            let some = rest.prefix(1000)
            rest = rest.dropFirst(1000)
            // The result has the order of the query.
            for (known, credential) in zip(some, try await states(of: some.map(\.sub)))
            where credential.state != "authorized" {
                let type =
                    switch credential.reason ?? "" {
                    case "apple_account_deleted": "account_deleted"
                    case "erased": "account_erased"
                    default: "credential_revoked"
                    }
                // If siwa does not know the user, the sessions from before the query end.
                try await handle(
                    Event(
                        type: type, account_id: known.accountID, client_id: clientID,
                        occurred_at: credential.since ?? known.since))
            }
        }
        cursor = end.cursor
        feedHasBegun = true
    }

    /// Handles one event. After a crash the same event can arrive again.
    private func handle(_ event: Event) async throws {
        // Otherwise it is about a user who has never signed in.
        guard let accountID = event.account_id else { return }
        let userID = user { $0.accountID == accountID }
        switch event.type {
        case "credential_revoked" where event.client_id == clientID:
            // The user may have signed in again, so only sessions that are not later than the event end.
            // Both times are Apple's, and all times have one format, so that they compare as text.
            revocations[accountID] = max(revocations[accountID] ?? "", event.occurred_at)
            if let userID { endSessions(of: userID, until: event.occurred_at) }
        case "account_deleted":
            guard let userID, let sub = users[userID]?.sub else { return }
            // The user may have kept the Apple Account and signed in again: read the state.
            guard try await states(of: [sub]).first?.state != "authorized" else { return }
            _ = try await erase(accountID)
            forget(userID)
        case "account_erased":
            // A user who has signed in again since the erasure was found by sub, and is deleted here as well.
            if let userID = userID ?? user(where: { $0.formerID == accountID }) { forget(userID) }
        case "account_transferred":
            // The app belongs to another team, where the user has another sub.
            guard let userID else { return }
            users[userID]?.teamID = event.team_id
            users[userID]?.sub = event.sub
        default:
            break
        }
    }

    private func states(of subs: [String]) async throws -> [CredentialList.Credential] {
        let query = CredentialQuery(client_id: clientID, subs: subs)
        let list: CredentialList = try await siwa.send(.POST, "/v1/credentials/query", query)
        return list.credentials
    }
}
