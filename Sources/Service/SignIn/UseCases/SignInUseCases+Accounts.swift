public import AppleAccounts

extension SignInUseCases {
    /// Returns the account with this ID. If the caller may see none of the account's credentials, the account
    /// counts as not found.
    ///
    /// - Throws: `AccountRefusal` with the code `account_not_found`; `StorageError`.
    public func account(id: String, allowed: AppScope) async throws -> Account {
        guard let id = AccountID(id), let account = try await store.account(id)?.narrowed(to: allowed)
        else { throw AccountRefusal(.accountNotFound) }
        return account.current(at: now())
    }

    /// Returns the account of the user whom Apple identifies by `subject` in an app's team. If the caller may
    /// see none of the account's credentials, the account counts as not found.
    ///
    /// - Throws: `UnknownClientID`, `CallerForbidden`; `AccountRefusal` with the code `account_not_found`;
    ///   `StorageError`.
    public func account(subject: String, clientID: String, allowed: AppScope) async throws -> Account {
        let app = try deployment.app(named: clientID, in: allowed)
        guard let subject = AppleSubject(subject),
            let account = try await store.account(SubjectKey(team: app.team, subject: subject))?
                .narrowed(to: allowed)
        else { throw AccountRefusal(.accountNotFound) }
        return account.current(at: now())
    }
}

extension SignInUseCases {
    /// The maximum number of accounts in a page that `accounts` returns.
    public static let largestAccountPage = 100
    /// Maximum number of further scans after a scan without a match, so that a request does not take too
    /// long. The position advances even if the page is empty.
    private static let mostScans = 2

    /// Returns matching accounts with the credentials that the caller may see, the newest account first.
    ///
    /// - Parameters:
    ///   - limit: Maximum number of accounts, from 1 to `largestAccountPage`. Any other value is clamped.
    /// - Returns: A page of accounts. An empty page can still have a next page, because very many accounts
    ///   may not match.
    /// - Throws: `SearchPositionUnknown` for a position that belongs to another kind of search;
    ///   `StorageError`.
    public func accounts(
        _ search: AccountSearch, after position: SearchPosition?, limit: Int
    ) async throws -> AccountPage {
        let countsRows = SearchPath(search).countsRows
        switch position {
        case .account where countsRows, .row where !countsRows: throw SearchPositionUnknown()
        case .account, .row, nil: break
        }
        var page = AccountPage(accounts: [], next: position)
        for scan in 0..<Self.mostScans where page.accounts.isEmpty && (scan == 0 || page.next != nil) {
            page = try await store.accounts(
                search, after: page.next, limit: min(max(limit, 1), Self.largestAccountPage), at: now())
        }
        return page
    }

    /// Returns an account's events after a cursor, like `events` for all accounts. Also returns events of an
    /// erased account.
    ///
    /// - Throws: `AccountRefusal` with the code `account_not_found` if the caller may see neither the account
    ///   nor its erasure; `StorageError`.
    public func events(
        of id: String, after cursor: Int64, limit: Int, allowed: AppScope
    ) async throws -> EventPage {
        let id = try await visibleAccount(id, allowed: allowed)
        return try await store.events(
            of: id, after: max(cursor, 0), limit: min(max(limit, 1), Self.largestEventPage),
            visibleTo: allowed)
    }

    /// Returns an account's stored events, history and notifications, limited to apps that the caller has
    /// access to.
    ///
    /// - Throws: The same errors as `events`.
    public func past(of id: String, allowed: AppScope) async throws -> AccountPast {
        let id = try await visibleAccount(id, allowed: allowed)
        let account = try await store.account(id)?.narrowed(to: allowed)
        var payloads: [KeptPayload] = []
        if let account {
            let key = SubjectKey(team: account.team, subject: account.subject)
            // The result includes notifications for all of the team's apps that the caller has access to,
            // even if the account has no credential for the app.
            let apps = deployment.apps.filter { $0.team == account.team && allowed.allows($0) }
            payloads = try await store.payloads(
                about: key, for: Set(apps.map(\.primaryClientID)), limit: AccountPast.most)
        }
        return AccountPast(
            events: try await store.lastEvents(of: id, limit: AccountPast.most, visibleTo: allowed),
            history: try await store.history(of: id, limit: AccountPast.most)
                .compactMap { SeenHistoryEntry($0, in: allowed) },
            payloads: payloads,
            nextChecks: try await store.nextChecks(of: id).filter { allowed.allows($0.key) })
    }

    /// Returns the primary client ID of the app with this client ID.
    ///
    /// - Throws: `UnknownClientID`, `CallerForbidden`.
    public func primaryClientID(of clientID: String, allowed: AppScope) throws -> ClientID {
        try deployment.app(named: clientID, in: allowed).primaryClientID
    }

    private func visibleAccount(_ text: String, allowed: AppScope) async throws -> AccountID {
        guard let id = AccountID(text) else { throw AccountRefusal(.accountNotFound) }
        if try await store.account(id)?.narrowed(to: allowed) != nil { return id }
        guard try await erasure(of: id, allowed: allowed) != nil else {
            throw AccountRefusal(.accountNotFound)
        }
        return id
    }
}

/// An account's stored events, history entries and notifications.
public struct AccountPast: Sendable {
    /// The maximum number of events, history entries and payloads, each counted separately.
    public static let most = 200

    /// Account events, the newest event first.
    public let events: [AccountEvent]
    /// History entries, the newest entry first.
    public let history: [SeenHistoryEntry]
    /// Notifications in the inbox, the latest notification first. Empty for an erased account.
    public let payloads: [KeptPayload]
    /// The next checks of Apple's refresh tokens, by the app's primary client ID.
    public let nextChecks: [ClientID: PlannedCheck]
}

/// The position belongs to another search.
public struct SearchPositionUnknown: Error, Sendable, Equatable {}

/// A history entry of an account, with only the parts that the caller may see.
public struct SeenHistoryEntry: Sendable, Hashable {
    public let kind: HistoryEntry.Kind
    /// The primary client ID of the entry's app; `nil` if the caller has no access to the app.
    public let clientID: ClientID?
    public let outcome: HistoryEntry.Outcome
    public let moment: Moment
    public let recordedAt: Moment
    public let decidedBy: Moment?
    public let cause: RefreshTokenCause?

    /// Returns `nil` for an entry that the caller may not see.
    public init?(_ entry: HistoryEntry, in scope: AppScope) {
        let isOwn = scope.allows(entry.clientID)
        switch entry.kind {
        case .appleAccountDeleted:
            // The deciding time is hidden from limited callers, because a sign-in to any of the user's apps
            // may have determined it.
            decidedBy = scope == .all ? entry.decidedBy : nil
        case .signIn, .exchange, .consentRevoked, .emailForwarding, .refreshTokenRejected:
            guard isOwn else { return nil }
            decidedBy = entry.decidedBy
        }
        clientID = isOwn ? entry.clientID : nil
        (kind, outcome, cause) = (entry.kind, entry.outcome, entry.cause)
        (moment, recordedAt) = (entry.moment, entry.recordedAt)
    }
}
