package import AppleAccounts
package import AuthorizationServer
package import EventDelivery
package import HTTPAPI
import Pages
import StrictJSON

/// The pages about events: the feed with its readers, the deliveries to receivers, and messages from Apple
/// and Google.
package struct EventPages: Sendable {
    package typealias Store = AccountStore & InboxStore & DeliveryStore & GrantInspectionStore

    /// A receiver from the configuration.
    ///
    /// - form: A short description of the delivery method.
    /// - isVerifiable: True if the receiver gets security event tokens, which include verification events.
    package typealias Receiver = (name: ReceiverName, form: String, isVerifiable: Bool)

    let store: any Store
    let arrivals: ArrivalLog
    /// The callers that read the feed from this process.
    private let readers: @Sendable () -> [FeedReaders.Reader]
    let receivers: [Receiver]
    let lastFailure: @Sendable (ReceiverName) -> DeliveryFailure?
    /// Wakes the delivery worker.
    let wake: @Sendable () -> Void
    /// True if an OAuth client is configured for Google.
    private let hasGoogle: Bool

    /// A page stops reading once it has this many entries. The last window can add more.
    static let pageSize = 50

    package init(
        store: any Store, arrivals: ArrivalLog, readers: @escaping @Sendable () -> [FeedReaders.Reader],
        receivers: [Receiver], lastFailure: @escaping @Sendable (ReceiverName) -> DeliveryFailure?,
        wake: @escaping @Sendable () -> Void, hasGoogle: Bool
    ) {
        (self.store, self.arrivals, self.readers, self.receivers) = (store, arrivals, readers, receivers)
        (self.lastFailure, self.wake, self.hasGoogle) = (lastFailure, wake, hasGoogle)
    }

    package var pages: [ConsolePage] {
        [
            ConsolePage(.get, "/events", access: .operators, entry: ("Events", 60), handle: feed),
            ConsolePage(.get, "/events/apple", access: .operators, handle: apple),
            ConsolePage(.get, "/events/google", access: .operatorsOfAllApps, handle: google),
            ConsolePage(.get, "/events/deliveries", access: .operatorsOfAllApps, handle: deliveries),
            ConsolePage(.post, "/events/deliveries/resume", access: .operatorsOfAllApps, handle: resume),
            ConsolePage(.post, "/events/deliveries/replay", access: .operatorsOfAllApps, handle: replay),
            ConsolePage(.post, "/events/deliveries/verify", access: .operatorsOfAllApps, handle: verify),
        ]
    }

    /// Returns a page with links to the other pages that the operator may open.
    func page(
        _ title: String, at path: String, _ request: ConsoleRequest, isLive: Bool = false,
        @PageBuilder _ content: () throws -> HTML
    ) rethrows -> ConsoleAnswer {
        var tabs = [("Feed", "/console/events"), ("From Apple", "/console/events/apple")]
        if request.viewer.scope == .all {
            if hasGoogle { tabs.append(("Google", "/console/events/google")) }
            tabs.append(("Deliveries", "/console/events/deliveries"))
        }
        return try .page(
            title, heading: "<h1>Events</h1>", isLive: isLive, tabs: Tabs("Events", tabs, current: path),
            content: content)
    }
}

// The feed.
extension EventPages {
    /// Number of events that one window reads. A page reads a limited number of windows, so an operator who
    /// may see only a few people can get a short page even if older events follow.
    private static let window: Int64 = 50
    private static let mostWindows = 20

    private func feed(_ request: ConsoleRequest) async throws -> ConsoleAnswer {
        let (place, position) = request.place { Int64($0) }
        let (events, next) = try await events(
            position, isOldestFirst: place.order == Self.oldest, visibleTo: request.viewer.scope)
        // Key names and feed positions reveal callers of other apps, so only operators with access to all
        // apps see them.
        let readers = request.viewer.scope == .all ? readers() : []
        return page("Events", at: "/console/events", request, isLive: position == nil) {
            if !readers.isEmpty {
                Card("Readers of this process") { "<ul>\n\(HTML(readers.map(\.line)))</ul>" }
            }
            Card("Feed") {
                let part = position == nil ? "" : " in this part of the feed"
                Table(
                    "Feed",
                    [
                        Table.Column("Number").sorted(["", Self.oldest]), "Event", .nowrap("Account"),
                        .any("App, client"), .nowrap("Happened, recorded (UTC)"),
                    ], events, ifEmpty: "No event\(part).",
                    pager: Pager(
                        place, rows: events.count, next: next.map { "\($0)" }, at: "/console/events"),
                    cells: Self.cells)
            }
        }
    }

    /// The name of the oldest-first sort order, which is also the order of the feed.
    private static let oldest = "oldest"

    /// Returns the events that follow a position in the list, and the position of the next page.
    private func events(
        _ position: Int64?, isOldestFirst: Bool, visibleTo scope: AppScope
    ) async throws -> (events: [AccountEvent], next: Int64?) {
        guard !isOldestFirst else {
            let page = try await store.events(
                after: max(0, position ?? 0), limit: Self.pageSize, visibleTo: scope)
            return (page.events, page.hasMore ? page.cursor : nil)
        }
        let last = try await store.lastEventSequence()
        var upper = max(1, min(position ?? .max, last + 1))
        var events: [AccountEvent] = []
        for _ in 0..<Self.mostWindows where upper > 1 && events.count < Self.pageSize {
            let lower = max(0, upper - 1 - Self.window)
            let page = try await store.events(after: lower, limit: Int(Self.window), visibleTo: scope)
            events += page.events.filter { $0.sequence < upper }.reversed()
            upper = lower + 1
        }
        return (events, upper > 1 ? upper : nil)
    }

    private static func cells(_ event: AccountEvent) -> [HTML] {
        var json = JSONWriter(reservingCapacity: 384)
        event.write(into: &json)
        let reason = event.reason?.rawValue ?? event.grant?.reason?.rawValue
        let cause = reason.map { [$0, event.source?.rawValue].compactMap(\.self).joined(separator: ", ") }
        let client = event.grant.map { "<br>\(HTML.code($0.oauthClientID.rawValue))" as HTML }
        return [
            "\(event.sequence)",
            Details("<strong>\(event.kind.rawValue)</strong>", "nowrap") {
                HTML.code(String(decoding: json.bytes, as: UTF8.self), "long")
            }.html + (cause.map(HTML.muted) ?? ""), event.accountID.map(HTML.shortLink) ?? .muted("none"),
            "\(event.clientID.map { HTML.code($0.rawValue) })\(client)",
            "\(EventTime.short(event.moment))<br>\(HTML.muted(EventTime.short(event.recordedAt)))",
        ]
    }
}

extension FeedReaders.Reader {
    fileprivate var line: HTML {
        let (style, words) = behind == 0 ? ("good", "up to date") : ("warn", "\(behind) behind at most")
        return """
            <li><strong>\(name)</strong> is <span class="\(style)">\(words)</span>, last asked at \
            \(EventTime.short(askedAt)) (UTC)</li>

            """
    }
}
