/// Finds accounts, and reads everything that is stored about one of them, for people who look.
public protocol AccountSearchStore: Sendable {
    /// Returns accounts that match, the newest first. All that it looks at is of one moment.
    ///
    /// - Parameters:
    ///   - position: `next` of the previous page of the same search. Must be of the kind that the path of the search
    ///     has (`SearchPath.countsRows`).
    ///   - limit: The number of accounts of the page, at most.
    ///   - moment: Time at which disablings must hold to count.
    func accounts(
        _ search: AccountSearch, after position: SearchPosition?, limit: Int, at moment: Moment
    ) async throws -> AccountPage

    /// Returns the events of one account after a sequence number that a caller may see, as `events` does for all
    /// accounts.
    func events(
        of id: AccountID, after sequence: Int64, limit: Int, visibleTo scope: AppScope
    ) async throws -> EventPage

    /// Returns the last events of one account that a caller may see, the newest first. Looks at `limit` events.
    func lastEvents(of id: AccountID, limit: Int, visibleTo scope: AppScope) async throws -> [AccountEvent]

    /// Returns the history of an account, the newest entry first. Empty for an account that does not exist.
    func history(of id: AccountID, limit: Int) async throws -> [HistoryEntry]

    /// Returns events of kept notifications about a user for some apps, those with the latest moments first.
    func payloads(about key: SubjectKey, for clientIDs: Set<ClientID>, limit: Int) async throws
        -> [KeptPayload]

    /// Returns the next checks of the account's refresh tokens, by the primary client ID of the app.
    func nextChecks(of id: AccountID) async throws -> [ClientID: PlannedCheck]

    /// Deletes entries of histories that were made before a moment. A bounded number per call. Returns the number
    /// of deleted entries.
    func purgeHistory(before moment: Moment) async throws -> Int
}

/// The next check of the refresh tokens that Apple gave for an account and an app.
public struct PlannedCheck: Sendable, Hashable {
    public let next: Moment
    /// Time since which a check has been due and none has succeeded. `nil` unless the last check has failed.
    public let uncheckedSince: Moment?

    public init(next: Moment, uncheckedSince: Moment?) {
        (self.next, self.uncheckedSince) = (next, uncheckedSince)
    }

    /// Returns the earlier times of both.
    public func merged(with other: PlannedCheck) -> PlannedCheck {
        PlannedCheck(
            next: min(next, other.next),
            uncheckedSince: [uncheckedSince, other.uncheckedSince].compactMap { $0 }.min())
    }
}
