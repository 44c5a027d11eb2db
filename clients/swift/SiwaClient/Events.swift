public import Foundation
import Logging
import NIOHTTP1
import Synchronization

/// Keeps the position in the feed, best in the same database as the sessions.
public protocol CursorStore: Sendable {
    /// Returns the saved cursor, or `nil` for a new backend.
    func load() async throws -> String?
    /// Stores the cursor. An error here ends the iteration, and the events come again.
    func save(_ cursor: String) async throws
}

/// Keeps the cursor in a file, for one process.
public struct FileCursor: CursorStore {
    private let url: URL

    public init(path: String) {
        url = URL(fileURLWithPath: path)
    }

    public func load() throws -> String? {
        guard FileManager.default.fileExists(atPath: url.path) else { return nil }
        let text = try String(contentsOf: url, encoding: .utf8)
        return text.isEmpty ? nil : text
    }

    /// After a crash the file has the old cursor or the new one.
    public func save(_ cursor: String) throws {
        try Data(cursor.utf8).write(to: url, options: .atomic)
    }
}

/// All events in their order. The sequence waits for new ones, and ends only when its task is cancelled.
///
/// It saves the cursor of a page after the body of the loop has handled the page's last event. So an event can
/// come again after a crash, and none is lost: handle each event so that a second time changes nothing. An error
/// in the loop ends the iteration without saving.
///
/// While siwa does not respond, the sequence waits and asks again with the same cursor. Errors that need a person,
/// such as `caller_unauthenticated`, are thrown.
///
/// Without a saved cursor, and after `cursor_ahead` (siwa's database was restored from a backup), it begins at the
/// end of the feed. Earlier events are missed, so it first calls `resync`, which must read the states of all users
/// with ``Siwa/states(of:clientID:)`` and end sessions whose state is not `authorized`. Without `resync`,
/// `cursor_ahead` is thrown.
public final class Events: AsyncSequence, Sendable {
    /// Seconds between two attempts while siwa does not respond, unless siwa names more.
    static let longestPause = 60

    private struct Position {
        var cursor: String?
        var isCaughtUp = false
        var lastResponseAt: Date?
    }

    private let transport: Transport
    private let store: any CursorStore
    private let resync: (@Sendable () async throws -> Void)?
    private let wait: Int
    private let position = Mutex(Position())

    init(
        _ transport: Transport, _ store: any CursorStore, _ resync: (@Sendable () async throws -> Void)?,
        wait: Int
    ) {
        (self.transport, self.store, self.resync, self.wait) = (transport, store, resync, wait)
    }

    /// The last saved cursor: all events before it are handled.
    public var cursor: String? { position.withLock { $0.cursor } }

    /// True if the last page was the end of the feed.
    public var isCaughtUp: Bool { position.withLock { $0.isCaughtUp } }

    /// The time of siwa's last response: at most `wait` seconds ago while siwa responds. `nil` until the feed has
    /// begun, and before then a backend must not accept sign-ins: it could miss their revocation.
    public var lastResponseAt: Date? { position.withLock { $0.lastResponseAt } }

    public func makeAsyncIterator() -> Iterator {
        Iterator(events: self)
    }

    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let events: Events
        private var hasLoaded = false
        private var current: (page: EventPage, began: Date)?
        private var rest: ArraySlice<Event> = []

        fileprivate init(events: Events) {
            self.events = events
        }

        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async throws -> Event?
        {
            do {
                if !hasLoaded {
                    let cursor = try await events.store.load()
                    events.position.withLock { $0.cursor = cursor }
                    hasLoaded = true
                }
                while true {
                    if let event = rest.popFirst() { return event }
                    if let (page, began) = current { try await events.finish(page, requestedAt: began) }
                    current = nil
                    let next = try await events.nextPage()
                    (current, rest) = (next, next.page.events[...])
                }
            } catch is CancellationError {
                return nil
            }
        }
    }

    private func finish(_ page: EventPage, requestedAt began: Date) async throws {
        if page.cursor != cursor {
            try await store.save(page.cursor)
            position.withLock { $0.cursor = page.cursor }
        } else if transport.clock.now.timeIntervalSince(began) < 1 {
            // A service that does not wait would be asked without a pause.
            try await transport.clock.sleep(seconds: 1)
        }
        position.withLock { $0.isCaughtUp = !page.hasMore }
    }

    /// The next page, and the time before its request.
    private func nextPage() async throws -> (page: EventPage, began: Date) {
        let (logger, clock) = (transport.logger, transport.clock)
        var failures = 0
        while true {
            let began = clock.now
            do {
                let page = try await read()
                position.withLock { $0.lastResponseAt = clock.now }
                return (page, began)
            } catch let error as SiwaError {
                if error.code == "cursor_ahead", resync != nil, cursor != nil {
                    logger.warning("siwa's feed ends before the saved cursor; all states are read again")
                    position.withLock { $0.cursor = nil }
                    continue
                }
                guard error.isTemporary else { throw error }
                if failures == 0 {
                    logger.warning("reading events failed (\(error)); the next attempts have the same cursor")
                }
                let pause = error.retryAfter ?? Swift.min(1 << Swift.min(failures, 10), Self.longestPause)
                failures += 1
                try await clock.sleep(seconds: pause)
            }
        }
    }

    private func read() async throws -> EventPage {
        if let cursor { return try await page("after=\(cursor.percentEncoded)&wait=\(wait)") }
        // The end comes before the states, so that no change between the two is missed.
        let end = try await page("after=latest")
        try await resync?()
        return end
    }

    private func page(_ query: String) async throws -> EventPage {
        try await transport.send(
            .init(
                method: .GET, target: "/v1/events?\(query)", timeout: .seconds(wait + 15), attempts: 1),
            as: EventPage.self)
    }
}
