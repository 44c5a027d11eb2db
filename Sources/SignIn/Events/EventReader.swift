import AppleAccounts

/// Reads the event feed for one caller.
struct EventReader: Sendable {
    let store: any AccountStore
    let feed: EventFeed
    let limit: Int
    let scope: AppScope

    /// How often one page goes on past events that the reader may not see. Bounds the time of a request; the
    /// cursor gets on all the same.
    private static let mostScans = 20

    /// The next page with an event in it; an empty one where the feed ends, or where the scan had to.
    func page(after cursor: Int64) async throws -> EventPage {
        var page = EventPage(events: [], cursor: cursor, hasMore: true)
        for _ in 0..<Self.mostScans where page.events.isEmpty && page.hasMore {
            page = try await store.events(after: page.cursor, limit: limit, visibleTo: scope)
        }
        return page
    }

    /// The same, but waits for an event where the feed ends. The time being over gives an empty page.
    ///
    /// - Throws: `OverloadedError` when as many wait as may; `StorageError`.
    func page(after cursor: Int64, waiting time: Duration) async throws -> EventPage {
        try await withThrowingTaskGroup(of: EventPage?.self) { group in
            group.addTask {
                var page = EventPage(events: [], cursor: cursor, hasMore: false)
                var seen = cursor
                while page.events.isEmpty, !page.hasMore, let latest = try await feed.waitForMore(after: seen)
                {
                    page = try await self.page(after: page.cursor)
                    // A database that was set back, to a backup or a standby that lagged behind, does not come to
                    // that number for a while. It must not be asked on and on meanwhile.
                    seen = max(page.cursor, latest)
                }
                return page
            }
            group.addTask {
                try? await Task.sleep(for: time)
                return nil
            }
            // Whichever is first ends the other. The reader always has a page, because its cursor must not be
            // lost.
            while let result = try await group.next() {
                group.cancelAll()
                if let page = result { return page }
            }
            return EventPage(events: [], cursor: cursor, hasMore: false)
        }
    }
}
