public import AppleAccounts

extension SignInUseCases {
    /// The longest that `events` waits.
    public static let longestWait = Duration.seconds(30)
    /// The most events that `events` returns at once.
    public static let largestEventPage = 1000

    /// The account events after a cursor, in the order of commit, none skipped.
    ///
    /// A limited caller sees what is about the credentials of its apps, and what is about accounts that have one.
    ///
    /// - Parameters:
    ///   - cursor: 0 for the beginning, else the `cursor` of the page before.
    ///   - limit: At least 1, at most `largestEventPage`; brought into these bounds.
    /// - wait: How long to wait for an event when there is none, at most `longestWait`. Ends early when the
    /// task is cancelled or the service shuts down, with an empty page.
    /// - Returns: A page that can be empty and have more behind it, when very many events were not the
    ///   caller's to see.
    /// - Throws: `StorageError`, `EventCursorAhead`.
    public func events(
        after cursor: Int64, limit: Int, wait: Duration, allowed: AppScope
    ) async throws -> EventPage {
        let reader = EventReader(
            store: store, feed: feed, limit: min(max(limit, 1), Self.largestEventPage),
            scope: allowed)
        let page = try await reader.page(after: max(cursor, 0))
        guard page.events.isEmpty, !page.hasMore else { return page }
        // Read after the page: the feed only grows, unless the database is set back.
        guard try await store.lastEventSequence() >= page.cursor else { throw EventCursorAhead() }
        guard wait > .zero else { return page }
        return try await reader.page(after: page.cursor, waiting: min(wait, Self.longestWait))
    }

    /// An empty page with the cursor at the end of the feed, or, when it shall wait, what comes next.
    ///
    /// - Throws: `StorageError`.
    public func latestEvents(limit: Int, wait: Duration, allowed: AppScope) async throws -> EventPage {
        let end = try await store.lastEventSequence()
        guard wait > .zero else { return EventPage(events: [], cursor: end, hasMore: false) }
        return try await events(after: end, limit: limit, wait: wait, allowed: allowed)
    }
}
