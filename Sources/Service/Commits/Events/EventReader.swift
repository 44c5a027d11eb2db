package import AppleAccounts

/// Reads the event feed for one caller.
package struct EventReader: Sendable {
    let store: any AccountStore
    let feed: EventFeed
    let limit: Int
    let scope: AppScope

    package init(store: any AccountStore, feed: EventFeed, limit: Int, scope: AppScope) {
        (self.store, self.feed, self.limit, self.scope) = (store, feed, limit, scope)
    }

    /// Number of times that one page skips events that the reader may not see. Bounds the time of a request;
    /// the cursor advances in any case.
    private static let mostScans = 20

    /// Returns the next page with an event in it. The page is empty at the end of the feed, and when too many
    /// events were skipped.
    package func page(after cursor: Int64) async throws -> EventPage {
        var page = EventPage(events: [], cursor: cursor, hasMore: true)
        for _ in 0..<Self.mostScans where page.events.isEmpty && page.hasMore {
            page = try await store.events(after: page.cursor, limit: limit, visibleTo: scope)
        }
        return page
    }

    /// Returns the next page, and waits for an event at the end of the feed. Returns an empty page after
    /// `time`.
    ///
    /// - Throws: `OverloadedError` when the largest number of readers waits already; `StorageError`.
    package func page(after cursor: Int64, waiting time: Duration) async throws -> EventPage {
        try await withThrowingTaskGroup(of: EventPage?.self) { group in
            group.addTask {
                var page = EventPage(events: [], cursor: cursor, hasMore: false)
                var seen = cursor
                while page.events.isEmpty, !page.hasMore, let latest = try await feed.waitForMore(after: seen)
                {
                    page = try await self.page(after: page.cursor)
                    // A database that was restored, from a backup or from a standby that lagged behind, does
                    // not reach `latest` for a while. The reader must not poll it without pause meanwhile.
                    seen = max(page.cursor, latest)
                }
                return page
            }
            group.addTask {
                try? await Task.sleep(for: time)
                return nil
            }
            // The first result ends the other task. The reader always returns a page, because its cursor must
            // not be lost.
            while let result = try await group.next() {
                group.cancelAll()
                if let page = result { return page }
            }
            return EventPage(events: [], cursor: cursor, hasMore: false)
        }
    }
}
