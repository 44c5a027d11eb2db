public import AppleAccounts
import Commits

extension SignInUseCases {
    /// The longest time that `events` waits.
    public static let longestWait = Duration.seconds(30)
    /// Largest number of events that `events` returns in one page.
    public static let largestEventPage = 1000

    /// Returns the account events after a cursor, in the order of their commits, without gaps.
    ///
    /// A limited caller sees events about the credentials of its apps, and about accounts with such a
    /// credential.
    ///
    /// - Parameters:
    ///   - cursor: 0 for the beginning, else the `cursor` of the previous page.
    ///   - limit: At least 1, at most `largestEventPage`. Other values are brought into these bounds.
    ///   - wait: Time to wait for an event at the end of the feed, at most `longestWait`. The wait ends
    ///     early, with an empty page, when the task is cancelled or the service shuts down.
    /// - Returns: A page. An empty page can have more after it when the caller may not see very many events.
    /// - Throws: `StorageError`, `EventCursorAhead`.
    public func events(
        after cursor: Int64, limit: Int, wait: Duration, allowed: AppScope
    ) async throws -> EventPage {
        let reader = EventReader(
            store: store, feed: feed, limit: min(max(limit, 1), Self.largestEventPage),
            scope: allowed)
        let page = try await reader.page(after: max(cursor, 0))
        guard page.events.isEmpty, !page.hasMore else { return page }
        // Read after the page: the feed only grows, unless the database was restored.
        guard try await store.lastEventSequence() >= page.cursor else { throw EventCursorAhead() }
        guard wait > .zero else { return page }
        return try await reader.page(after: page.cursor, waiting: min(wait, Self.longestWait))
    }

    /// Returns an empty page with the cursor at the end of the feed or, with a wait, the next events.
    ///
    /// - Throws: `StorageError`.
    public func latestEvents(limit: Int, wait: Duration, allowed: AppScope) async throws -> EventPage {
        let end = try await store.lastEventSequence()
        guard wait > .zero else { return EventPage(events: [], cursor: end, hasMore: false) }
        return try await events(after: end, limit: limit, wait: wait, allowed: allowed)
    }
}
