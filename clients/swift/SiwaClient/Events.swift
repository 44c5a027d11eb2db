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

    /// - Parameter path: File, which need not exist.
    public init(path: String) {
        url = URL(fileURLWithPath: path)
    }

    /// The content of the file, or `nil` without a file.
    public func load() throws -> String? {
        guard FileManager.default.fileExists(atPath: url.path) else { return nil }
        let text = try String(contentsOf: url, encoding: .utf8)
            .trimmingCharacters(in: .whitespacesAndNewlines)
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
/// end of the feed. Earlier events are missed, so it first calls `resync`, which must handle
/// ``Siwa/missedEvents(of:)`` of all users. Without `resync`, `cursor_ahead` is thrown.
public final class Events: AsyncSequence, Sendable {
    /// Seconds between two attempts while siwa does not respond, unless siwa names more.
    static let longestPause = 60
    static let pauseAfterError = 2

    private struct Position {
        var cursor: String?
        var isCaughtUp = false
        var lastResponseAt: Date?
        var hasEnded = false
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

    /// The last saved cursor: all events before it are handled. `nil` until the feed has begun.
    public var cursor: String? { position.withLock { $0.cursor } }

    /// True if the last page was the end of the feed.
    public var isCaughtUp: Bool { position.withLock { $0.isCaughtUp } }

    /// The time of siwa's last response: at most `wait` seconds ago while siwa responds.
    public var lastResponseAt: Date? { position.withLock { $0.lastResponseAt } }

    /// Begins the feed if the store has no cursor, and returns. Waits until siwa responds.
    public func begin() async throws {
        let cursor = try await store.load()
        position.withLock {
            $0.cursor = cursor?.isEmpty == false ? cursor : nil
            $0.hasEnded = false
        }
        if self.cursor == nil { try await save(nextPage()) }
    }

    /// Throws `feed_not_begun` (503) until the feed has begun. Call it before each sign-in.
    public func check() throws(SiwaError) {
        guard cursor == nil else { return }
        throw SiwaError(
            "feed_not_begun", status: 503, detail: "The revocation of a sign-in could be missed.")
    }

    /// Calls `handle` with each event until the task is cancelled.
    ///
    /// After an error it logs the error, waits two seconds, and continues at the saved cursor. Without `handle` it
    /// only begins the feed, for a backend with webhooks: siwa keeps the position of a webhook, so the backend needs
    /// only the states from before its first start. With a cursor that is not siwa's, it ends, and ``check()``
    /// refuses sign-ins.
    public func run(_ handle: (@Sendable (Event) async throws -> Void)? = nil) async {
        while !Task.isCancelled {
            do {
                guard let handle else { return try await begin() }
                for try await event in self { try await handle(event) }
            } catch {
                if position.withLock({ $0.hasEnded }) { return }
                transport.logger.error("events are read again at the same cursor after an error: \(error)")
                try? await transport.clock.sleep(seconds: Self.pauseAfterError)
            }
        }
    }

    public func makeAsyncIterator() -> Iterator {
        Iterator(events: self)
    }

    /// Reads pages, and saves their cursors.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let events: Events
        private var hasBegun = false
        private var page: EventPage?
        private var rest: ArraySlice<Event> = []
        /// The time before the request of the page.
        private var began = Date.distantPast

        fileprivate init(events: Events) {
            self.events = events
        }

        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async throws -> Event?
        {
            do {
                if !hasBegun { try await events.begin() }
                hasBegun = true
                while true {
                    if let event = rest.popFirst() { return event }
                    if let page { try await events.finish(page, requestedAt: began) }
                    (page, began) = (nil, events.transport.clock.now)
                    let next = try await events.nextPage()
                    (page, rest) = (next, next.events[...])
                }
            } catch is CancellationError {
                return nil
            }
        }
    }

    private func finish(_ page: EventPage, requestedAt began: Date) async throws {
        if page.cursor != cursor {
            try await save(page)
        } else if transport.clock.now.timeIntervalSince(began) < 1 {
            // A service that does not wait would be asked without a pause.
            try await transport.clock.sleep(seconds: 1)
        }
        position.withLock { $0.isCaughtUp = !page.hasMore }
    }

    private func save(_ page: EventPage) async throws {
        try await store.save(page.cursor)
        position.withLock { $0.cursor = page.cursor }
    }

    /// The next page, or the end of the feed if there is no usable cursor. Waits until siwa responds.
    private func nextPage() async throws -> EventPage {
        let (logger, clock) = (transport.logger, transport.clock)
        var cursor = cursor ?? ""
        var failures = 0
        while true {
            do {
                let query = cursor.isEmpty ? "after=latest" : "after=\(cursor.percentEncoded)&wait=\(wait)"
                let page = try await transport.send(
                    .init(
                        method: .GET, target: "/v1/events?\(query)", timeout: .seconds(wait + 15),
                        attempts: 1),
                    as: EventPage.self)
                // The end comes before the states, so that no change between the two is missed.
                if cursor.isEmpty { try await resync?() }
                position.withLock { $0.lastResponseAt = clock.now }
                return page
            } catch let error as SiwaError {
                if error.code == "cursor_ahead", resync != nil, !cursor.isEmpty {
                    logger.warning("siwa's feed ends before the saved cursor; all states are read again")
                    cursor = ""
                    continue
                }
                if error.code == "parameter_malformed", !cursor.isEmpty {
                    logger.error("the feed ends; delete its cursor, and start again (\(error))")
                    position.withLock {
                        $0.cursor = nil
                        $0.hasEnded = true
                    }
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
}
