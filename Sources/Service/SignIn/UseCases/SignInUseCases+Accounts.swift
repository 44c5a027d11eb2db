public import AppleAccounts

extension SignInUseCases {
    /// Returns the account with this ID. For a caller who may see none of its credentials the account does
    /// not exist.
    ///
    /// - Throws: `AccountRefusal` `account_not_found`, `StorageError`.
    public func account(id: String, allowed: AppScope) async throws -> Account {
        guard let id = AccountID(id), let account = try await store.account(id)?.narrowed(to: allowed)
        else { throw AccountRefusal(.accountNotFound) }
        return account.current(at: now())
    }

    /// Returns the account of the user that Apple calls `subject` in the team of an app. For a caller who may
    /// see none of its credentials the account does not exist.
    ///
    /// - Throws: `UnknownClientID`, `CallerForbidden`, `AccountRefusal` `account_not_found`, `StorageError`.
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
    /// Largest number of accounts that `accounts` returns in one page.
    public static let largestAccountPage = 100
    /// Number of times that one page goes on when it found nothing. Bounds the time of a request; the position
    /// advances in any case.
    private static let mostScans = 2

    /// Returns accounts that match, with the credentials that the caller may see, the newest first.
    ///
    /// - Parameters:
    ///   - limit: At least 1, at most `largestAccountPage`. Other values are brought into these bounds.
    /// - Returns: A page. An empty page can have more after it, when very many accounts were looked at in vain.
    /// - Throws: `SearchPositionUnknown` for a position of another kind of search; `StorageError`.
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

    /// Returns the events of one account after a cursor, as `events` does for all accounts. Also of an erased
    /// account.
    ///
    /// - Throws: `AccountRefusal` `account_not_found` when the caller may see neither the account nor its erasure;
    ///   `StorageError`.
    public func events(
        of id: String, after cursor: Int64, limit: Int, allowed: AppScope
    ) async throws -> EventPage {
        let id = try await visibleAccount(id, allowed: allowed)
        return try await store.events(
            of: id, after: max(cursor, 0), limit: min(max(limit, 1), Self.largestEventPage),
            visibleTo: allowed)
    }

    /// Returns everything that is stored about the past of an account and that the caller may see.
    ///
    /// - Throws: as `events`.
    public func past(of id: String, allowed: AppScope) async throws -> AccountPast {
        let id = try await visibleAccount(id, allowed: allowed)
        let account = try await store.account(id)?.narrowed(to: allowed)
        var payloads: [KeptPayload] = []
        if let account {
            let key = SubjectKey(team: account.team, subject: account.subject)
            // Notifications of all apps of the team that the caller may see, also of apps without a credential.
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

    /// Returns the primary client ID of the app that a client ID belongs to.
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

/// The past of one account.
public struct AccountPast: Sendable {
    /// The number of events, entries and payloads that are read, at most, of each.
    public static let most = 200

    /// The newest first.
    public let events: [AccountEvent]
    /// The newest first.
    public let history: [SeenHistoryEntry]
    /// Notifications in the inbox, those with the latest moments first. Empty for an erased account.
    public let payloads: [KeptPayload]
    /// The next checks of Apple's refresh tokens, by the primary client ID of the app.
    public let nextChecks: [ClientID: PlannedCheck]
}

/// The position is not of this search.
public struct SearchPositionUnknown: Error, Sendable, Equatable {}

/// An entry of an account's history, as far as a caller may see it.
public struct SeenHistoryEntry: Sendable, Hashable {
    public let kind: HistoryEntry.Kind
    /// The primary client ID of the app that it came for; `nil` for an app that the caller may not see.
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
            // It concerns all apps of the user. The moment that decided can be that of a sign-in to any of them.
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
