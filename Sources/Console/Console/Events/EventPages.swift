package import AppleAccounts
package import AuthorizationServer
package import EventDelivery
package import HTTPAPI
import Pages
import StrictJSON

/// The event feed with its readers, the deliveries to receivers, and what came from Apple and from Google.
package struct EventPages: Sendable {
    package typealias Store = AccountStore & InboxStore & DeliveryStore & GrantInspectionStore

    /// A receiver as the configuration has it.
    package struct Receiver: Sendable {
        package let name: ReceiverName
        /// The way in which it gets its events, in a few words.
        package let form: String
        /// True if it gets security event tokens, and so also verification events.
        package let isVerifiable: Bool

        package init(name: ReceiverName, form: String, isVerifiable: Bool) {
            (self.name, self.form, self.isVerifiable) = (name, form, isVerifiable)
        }
    }

    let store: any Store
    let arrivals: ArrivalLog
    /// The callers that read the feed of this process.
    private let readers: @Sendable () -> [FeedReaders.Reader]
    let receivers: [Receiver]
    let lastFailure: @Sendable (ReceiverName) -> DeliveryFailure?
    /// Wakes the worker that delivers.
    let wake: @Sendable () -> Void
    /// True with a client of Google.
    private let hasGoogle: Bool

    /// Number of entries of a page, at least where there are as many.
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
            ConsolePage(
                .get, "/events", access: .operators, entry: .init("Events", order: 60), handle: feed),
            ConsolePage(.get, "/events/apple", access: .operators, handle: apple),
            ConsolePage(.get, "/events/google", access: .operatorsOfAllApps, handle: google),
            ConsolePage(.get, "/events/deliveries", access: .operatorsOfAllApps, handle: deliveries),
            ConsolePage(.post, "/events/deliveries/resume", access: .operatorsOfAllApps, handle: resume),
            ConsolePage(.post, "/events/deliveries/replay", access: .operatorsOfAllApps, handle: replay),
            ConsolePage(.post, "/events/deliveries/verify", access: .operatorsOfAllApps, handle: verify),
        ]
    }

    /// A page with links to the others, of which the operator sees those that may be opened.
    func page(
        _ title: String, at path: String, _ request: ConsoleRequest, isLive: Bool = false,
        @PageBuilder _ content: () throws -> HTML
    ) rethrows -> ConsoleAnswer {
        var tabs = [("Feed", "/console/events"), ("From Apple", "/console/events/apple")]
        if request.viewer.scope == .all {
            if hasGoogle { tabs.append(("Google", "/console/events/google")) }
            tabs.append(("Deliveries", "/console/events/deliveries"))
        }
        return .page(
            title, isLive: isLive,
            try HTML {
                "<h1>Events</h1>"
                Tabs("Events", tabs, current: path)
                try content()
            })
    }

    /// Links to the newest page and to the next one.
    static func pager(_ path: String, older: String?, isNewest: Bool = false) -> HTML {
        let newest = isNewest ? nil : HTML.link("Newest", to: path) + " "
        return "<p>\(newest)\(older.map { HTML.link("Older", to: "\(path)?before=\($0)") })</p>"
    }
}

// The feed.
extension EventPages {
    /// Number of events that a window of the feed has, and of windows that one page looks at: a page of an
    /// operator with few people can be short although older events follow.
    private static let window: Int64 = 50
    private static let mostWindows = 20

    private func feed(_ request: ConsoleRequest) async throws -> ConsoleAnswer {
        let before = request.query["before"].flatMap { Int64($0) }
        let (events, older) = try await events(before: before, visibleTo: request.viewer.scope)
        // The name of a key and the numbers of the feed tell of callers with other apps.
        let readers = request.viewer.scope == .all ? readers() : []
        return page("Events", at: "/console/events", request, isLive: before == nil) {
            if !readers.isEmpty {
                Card("Readers of this process") { "<ul>\n\(HTML(readers.map(\.line)))</ul>" }
            }
            Card("Feed") {
                let place = before == nil ? "" : " in this part of the feed"
                Table(
                    "Feed",
                    [
                        "Number", "Event", .nowrap("Account"), .any("App, client"),
                        .nowrap("Happened, recorded (UTC)"),
                    ], events, ifEmpty: "No event\(place).", cells: Self.cells)
                Self.pager("/console/events", older: older.map { "\($0)" }, isNewest: before == nil)
            }
        }
    }

    /// Returns the events before a number, the newest first, and the number for the next page.
    private func events(
        before: Int64?, visibleTo scope: AppScope
    ) async throws -> (events: [AccountEvent], older: Int64?) {
        let last = try await store.lastEventSequence()
        var upper = max(1, min(before ?? .max, last + 1))
        var events: [AccountEvent] = []
        for _ in 0..<Self.mostWindows where upper > 1 && events.count < Self.pageSize {
            let lower = max(0, upper - 1 - Self.window)
            let page = try await store.events(
                after: lower, limit: Int(Self.window), visibleTo: scope)
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
            """
            <details><summary class="nowrap"><strong>\(event.kind.rawValue)</strong></summary>\
            <code class="long">\(String(decoding: json.bytes, as: UTF8.self))</code></details>\
            \(cause.map(HTML.muted))
            """,
            event.accountID.map(HTML.shortLink) ?? .muted("none"),
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
