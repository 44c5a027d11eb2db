/// A stretch of the event feed.
public struct EventPage: Sendable, Hashable {
    public let events: [AccountEvent]
    /// Where to go on. It can be past the last event of the page, when what followed was not the reader's to
    /// see.
    public let cursor: Int64
    /// Whether there may be more right now.
    public let hasMore: Bool

    public init(events: [AccountEvent], cursor: Int64, hasMore: Bool) {
        (self.events, self.cursor, self.hasMore) = (events, cursor, hasMore)
    }
}
