import AppleAccounts
import StrictJSON

extension EventPages {
    private struct FeedValues: Sendable {
        let navigation: Tabs
        let hasReaders: Bool
        let readers: [ReaderLine]
        let hasEvents: Bool
        let events: [Row]
        let older: Int64?
        let isNewest: Bool
    }

    private struct ReaderLine: Sendable {
        let name: String
        let words: String
        let asked: String
        let style: String
    }

    private struct Row: Sendable {
        let sequence: Int64
        let type: String
        let account: String?
        let accountText: String
        let app: String?
        let client: String?
        let reason: String?
        let source: String?
        let occurred: String
        let recorded: String
        let json: String
    }

    /// Number of events that a window of the feed has, and of windows that one page looks at: a page of an
    /// operator with few people can be short although older events follow.
    private static let window: Int64 = 50
    private static let mostWindows = 20

    func feed(_ request: ConsoleRequest) async throws -> ConsoleAnswer {
        let before = request.query["before"].flatMap { Int64($0) }
        let (events, older) = try await events(before: before, visibleTo: request.viewer.scope)
        // The name of a key and the numbers of the feed tell of callers with other apps.
        let readers = request.viewer.scope == .all ? dependencies.readers() : []
        let values = FeedValues(
            navigation: tabs("/events", request), hasReaders: !readers.isEmpty,
            readers: readers.map(Self.line), hasEvents: !events.isEmpty,
            events: events.map(Self.row), older: older, isNewest: before == nil)
        return .template("events", title: "Events", values: values, isLive: before == nil)
    }

    /// Returns the events before a number, the newest first, and the number for the next page.
    private func events(
        before: Int64?, visibleTo scope: AppScope
    ) async throws -> (events: [AccountEvent], older: Int64?) {
        let last = try await dependencies.store.lastEventSequence()
        var upper = max(1, min(before ?? .max, last + 1))
        var events: [AccountEvent] = []
        for _ in 0..<Self.mostWindows where upper > 1 && events.count < Self.pageSize {
            let lower = max(0, upper - 1 - Self.window)
            let page = try await dependencies.store.events(
                after: lower, limit: Int(Self.window), visibleTo: scope)
            events += page.events.filter { $0.sequence < upper }.reversed()
            upper = lower + 1
        }
        return (events, upper > 1 ? upper : nil)
    }

    private static func line(_ reader: FeedReader) -> ReaderLine {
        ReaderLine(
            name: reader.name,
            words: reader.behind == 0 ? "up to date" : "\(reader.behind) behind at most",
            asked: EventTime.short(reader.askedAt),
            style: reader.behind == 0 ? "good" : "warn")
    }

    private static func row(_ event: AccountEvent) -> Row {
        var json = JSONWriter(reservingCapacity: 384)
        event.write(into: &json)
        return Row(
            sequence: event.sequence, type: event.kind.rawValue, account: event.accountID?.rawValue,
            accountText: event.accountID.map { ShortID.text($0.rawValue) } ?? "",
            app: event.clientID?.rawValue, client: event.grant?.oauthClientID.rawValue,
            reason: event.reason?.rawValue ?? event.grant?.reason?.rawValue, source: event.source?.rawValue,
            occurred: EventTime.short(event.moment), recorded: EventTime.short(event.recordedAt),
            json: String(decoding: json.bytes, as: UTF8.self))
    }
}
