public import AppleAccounts
public import Commits
import Synchronization

/// The callers that read the event feed, by their API keys: the number that each has read up to, and the time
/// of its last question.
///
/// Memory is bounded by the number of configured keys. In development, where callers need no key, all of them
/// are one reader. Each replica knows the readers that have asked it.
public final class FeedReaders: Sendable {
    /// One reader of the feed.
    public struct Reader: Sendable, Equatable {
        /// The name of its API key.
        public let name: String
        /// The number of the last event that the reader had when it last asked. It has handled the events up to
        /// this number if it asks after it has handled them, as it should.
        public let sequence: Int64
        /// Events of the feed after this number, at most: a limited key does not see all of them.
        public let behind: Int64
        public let askedAt: Moment
    }

    private struct Position {
        var sequence: Int64
        var askedAt: Moment
    }

    /// The name of callers without a key.
    public static let anonymous = "development"

    private let feed: EventFeed
    private let positions = Mutex<[String: Position]>([:])

    public init(feed: EventFeed) {
        self.feed = feed
    }

    /// Notes a question.
    ///
    /// - Parameters:
    ///   - name: The name of the API key, or `nil` without keys.
    ///   - sequence: The cursor of the question.
    func note(_ name: String?, after sequence: Int64, at now: Moment) {
        positions.withLock { $0[name ?? Self.anonymous] = Position(sequence: sequence, askedAt: now) }
    }

    /// The readers since the start of the process, by name.
    public var all: [Reader] {
        let latest = feed.latest
        return positions.withLock { $0 }.sorted { $0.key < $1.key }.map { name, position in
            Reader(
                name: name, sequence: position.sequence, behind: max(0, latest - position.sequence),
                askedAt: position.askedAt)
        }
    }
}
