import Hummingbird

struct Event: Decodable {
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
        let account_disabled: Bool?
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
            for (known, credential) in zip(some, try await states(of: some.map(\.sub))) {
                if let accountID = known.accountID {
                    set(accountID, isDisabled: credential.account_disabled ?? false)
                }
                guard credential.state != "authorized" else { continue }
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
    func handle(_ event: Event) async throws {
        // Otherwise it is about a user who has never signed in.
        guard let accountID = event.account_id else { return }
        let userID = user { $0.accountID == accountID }
        switch event.type {
        case "credential_revoked" where event.client_id == clientID:
            endSessions(of: userID, accountID, until: event.occurred_at)
        case "sessions_ended":
            endSessions(of: userID, accountID, until: event.occurred_at)
            // Signed out everywhere, also where the session began with a password.
            if let userID { endPasswordSessions(of: userID) }
        case "account_disabled":
            set(accountID, isDisabled: true)
        case "account_enabled":
            set(accountID, isDisabled: false)
        case "account_deleted":
            guard let userID, let sub = users[userID]?.sub else { return }
            // The user may have kept the Apple Account and signed in again: read the state.
            guard try await states(of: [sub]).first?.state != "authorized" else { return }
            _ = try await erase(accountID)
            forget(userID)
        case "account_erased":
            set(accountID, isDisabled: false)
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

    /// Ends sessions, and remembers the moment for sign-ins that are under way.
    ///
    /// The user may have signed in again, so only sessions that are not later than the event end. The times can be
    /// compared, and all have one format, so that they compare as text.
    private func endSessions(of userID: String?, _ accountID: String, until moment: String) {
        revocations[accountID] = max(revocations[accountID] ?? "", moment)
        if let userID { endSessions(of: userID, until: moment) }
    }

    private func set(_ accountID: String, isDisabled: Bool) {
        if isDisabled { disabled.insert(accountID) } else { disabled.remove(accountID) }
    }

    private func states(of subs: [String]) async throws -> [CredentialList.Credential] {
        let query = CredentialQuery(client_id: clientID, subs: subs)
        let list: CredentialList = try await siwa.send(.POST, "/v1/credentials/query", query)
        return list.credentials
    }
}
