import AppleAccounts
import AuthorizationServer
import EventDelivery
import StorageConformance
import StrictJSON
import TestSupport
import Testing
import TokenMint

@testable import Console
@testable import HTTPAPI

@Suite struct EventPagesTests {
    private static let now = Moment(seconds: TokenMint.sampleTime)
    private static let name: ReceiverName = "shop-hook"

    private struct World {
        let store = ReferenceStore()
        let arrivals = ArrivalLog(now: { now })
        let readers: [FeedReaders.Reader]

        init(readers: [FeedReaders.Reader] = []) {
            self.readers = readers
        }

        /// The actions of operators in the audit log, the oldest first.
        func audited() async throws -> [AuditAction] {
            try await store.auditRows(after: 0, limit: 100)
                .filter { $0.facts.actor == .consoleOperator("ops") }.map(\.facts.action)
        }

        var pages: [ConsolePage] {
            EventPages(
                store: store, arrivals: arrivals, readers: { [readers] in readers },
                receivers: [
                    (name: name, form: "webhook", isVerifiable: true),
                    (name: .google, form: "reports", isVerifiable: false),
                ],
                lastFailure: { _ in DeliveryFailure(moment: now, text: "refused with status 503") },
                wake: {}, hasGoogle: true
            ).pages
        }

        func html(
            _ path: String, query: [String: String] = [:], scope: AppScope = .all, isDevelopment: Bool = false
        ) async throws -> String {
            try InspectedWorld.html(
                try await pages.page(.get, path).handle(
                    request(query: query, scope: scope, isDevelopment: isDevelopment)))
        }

        func post(_ path: String, _ form: [String: String]) async throws -> ConsoleAnswer {
            try await pages.page(.post, path).handle(request(form: form))
        }

        private func request(
            query: [String: String] = [:], form: [String: String] = [:], scope: AppScope = .all,
            isDevelopment: Bool = false
        ) -> ConsoleRequest {
            ConsoleRequest(
                requestID: "req-1", query: query, form: form,
                viewer: InspectedWorld.viewer(scope, isDevelopment: isDevelopment), now: now)
        }
    }

    @Test func `the feed is newest first, in pages, and no event is in two of them`() async throws {
        let world = World()
        for number in 1...120 {
            try await world.store.signIn(.sample(key: .sample(AppleSubject(stringLiteral: "s-\(number)"))))
        }
        let last = try await world.store.lastEventSequence()
        var seen: [Int64] = []
        var query: [String: String] = [:]
        for _ in 0..<20 {
            let html = try await world.html("/events", query: query)
            seen += html.split(separator: "<tr><td>").dropFirst().compactMap {
                Int64($0.prefix { $0.isNumber })
            }
            guard let next = PageTree(html).way("Next page") else { break }
            query = next
        }
        #expect(seen == Array((1...last).reversed()))
        // The page before, and the other end of the feed.
        let back = try #require(PageTree(try await world.html("/events", query: query)).way("Previous page"))
        #expect(PageTree(try await world.html("/events", query: back)).way("Next page") == query)
        let oldest = PageTree(try await world.html("/events", query: ["order": "oldest"]))
        #expect(oldest.rows("Feed").compactMap { Int64($0[0]) } == Array(1...50))
        #expect(oldest.all("th").first?.attributes["aria-sort"] == "ascending")
    }

    @Test func `an operator of other apps sees no event and no reader`() async throws {
        let world = World(readers: [
            FeedReaders.Reader(name: "backend", sequence: 1, behind: 0, askedAt: Self.now)
        ])
        let account = try await world.store.signIn(.sample()).account
        #expect(try await world.html("/events").contains(account.id.rawValue))
        let html = try await world.html("/events", scope: .only(["com.example.other"]))
        #expect(html.contains("No event") && !html.contains(account.id.rawValue))
        #expect(!html.contains("backend"))
        #expect(!html.contains("/console/events/deliveries"))
    }

    @Test func `a reader's line says how far it is behind, and when it asked last`() async throws {
        let reader = FeedReaders.Reader(
            name: "backend", sequence: 3, behind: 12, askedAt: Self.now.advanced(byMilliseconds: -3000))
        let html = try await World(readers: [reader]).html("/events")
        #expect(html.contains("<strong>backend</strong> is <span class=\"warn\">12 behind at most</span>"))
        // The moment: a distance would be wrong while the page is open.
        #expect(html.contains("last asked at \(EventTime.short(reader.askedAt)) (UTC)"))
    }

    @Test func `notifications are shown with masked claims, and only those of the operator's apps`()
        async throws
    {
        let world = World()
        let event = JSONObject([
            ("type", .string("email-disabled")), ("sub", .string(TokenMint.subject)),
            ("email", .string("ada@privaterelay.appleid.com")), ("event_time", .integer(1)),
        ])
        let token = try TokenMint.shared.sign(TokenMint.notificationClaims(event: event))
        try await world.store.notify(.sample(payload: token))
        let html = try await world.html("/events/apple")
        #expect(html.contains("email-disabled") && html.contains("applied"))
        #expect(html.contains("a…@p…") && !html.contains("ada@"))
        #expect(!html.contains(token))
        // The signed text is for developers alone.
        #expect(try await world.html("/events/apple", isDevelopment: true).contains(token))
        let other = try await world.html("/events/apple", scope: .only(["com.example.other"]))
        #expect(other.contains("None was accepted") && !other.contains("email-disabled"))
        // What was refused belongs to no app.
        #expect(!other.contains("Refused and repeated"))
    }

    @Test func `a notification that came too late is accepted, and has changed nothing`() async throws {
        let world = World()
        try await world.store.signIn(.sample(authorizedAt: 5_000_000))
        try await world.store.notify(.sample(at: 1_000_000))
        let html = try await world.html("/events/apple")
        #expect(html.contains("accepted, changed nothing") && !html.contains(">applied<"))
        try await world.store.notify(.sample(at: 6_000_000, identifier: "jti-2"))
        #expect(try await world.html("/events/apple").contains(">applied<"))
    }

    @Test(arguments: NotificationForm.allCases)
    func `every form of Apple's events is masked, kept or refused, and has its type`(
        form: NotificationForm
    ) async throws {
        let token = try form.token()
        let kept = World()
        try await kept.store.notify(.sample(payload: token))
        let refused = World()
        refused.arrivals.note(.apple, "token_expired", token: token, requestID: "req-9")
        for world in [kept, refused] {
            let html = try await world.html("/events/apple")
            #expect(html.contains(NotificationForm.masked) && !html.contains("relay7"))
            #expect(html.contains("<td class=\"any\">email-disabled</td>"))
        }
    }

    @Test func `a paused receiver is resumed by a post, and the audit log names the operator`()
        async throws
    {
        let world = World()
        let name = Self.name
        try await world.store.addReceivers([name], at: Self.now)
        let claimed = try #require(try await world.store.receiver(name))
        _ = try await world.store.settle(
            claimed.record, ReceiverProgress(cursor: 0, notBefore: Self.now, pausedAt: Self.now))
        let html = try await world.html("/events/deliveries")
        #expect(html.contains("paused since") && html.contains("Resume shop-hook"))
        #expect(html.contains("refused with status 503"))
        guard
            case .redirect(let path, _) = try await world.post(
                "/events/deliveries/resume", ["receiver": "shop-hook"])
        else {
            Issue.record("not resumed")
            return
        }
        #expect(path == "/events/deliveries")
        #expect(try await world.store.receiver(name)?.record.pausedAt == nil)
        #expect(try await world.audited() == [.deliveryResumed])
    }

    @Test func `a replay moves the position back, and a verification is asked for once a minute`()
        async throws
    {
        let world = World()
        let name = Self.name
        try await world.store.signIn(.sample(receivedAt: Self.now.advanced(byMilliseconds: -5000)))
        try await world.store.addReceivers([name], at: Self.now)
        let before = try #require(try await world.store.receiver(name)).record.cursor
        guard
            case .redirect = try await world.post(
                "/events/deliveries/replay",
                ["receiver": "shop-hook", "since": "1970-01-01T00:00:01Z"])
        else {
            Issue.record("not replayed")
            return
        }
        #expect(before > 0)
        #expect(try await world.store.receiver(name)?.record.cursor == 0)
        guard
            case .redirect = try await world.post(
                "/events/deliveries/verify", ["receiver": "shop-hook"]),
            case .refused = try await world.post("/events/deliveries/verify", ["receiver": "shop-hook"])
        else {
            Issue.record("not verified once")
            return
        }
        #expect(try await world.audited() == [.deliveryReplayed])
    }

    @Test(arguments: ["", "another", "<script>", "client:", String(repeating: "a", count: 100)])
    func `an action on a receiver that is not there does nothing`(name: String) async throws {
        let world = World()
        for action in ["resume", "replay", "verify"] {
            let answer = try await world.post(
                "/events/deliveries/\(action)", ["receiver": name, "since": "2025-01-01T00:00:00Z"])
            guard case .notFound = answer else {
                Issue.record("\(action) was accepted")
                continue
            }
        }
        #expect(try await world.audited().isEmpty)
    }

    @Test(arguments: ["", "yesterday", "2999-01-01T00:00:00Z", "2025-13-01T00:00:00Z"])
    func `a replay without a moment of the past is refused`(since: String) async throws {
        let world = World()
        let name = Self.name
        try await world.store.addReceivers([name], at: Self.now)
        let answer = try await world.post(
            "/events/deliveries/replay", ["receiver": "shop-hook", "since": since])
        guard case .refused = answer else {
            Issue.record("accepted")
            return
        }
        #expect(try await world.audited().isEmpty)
    }

    @Test func `the page of Google has its events and the state of the reports`() async throws {
        let world = World()
        try await world.store.addReceivers([.google], at: Self.now)
        let token = try TokenMint.shared.sign(
            JSONObject([
                ("iss", .string("https://accounts.google.com/")), ("jti", .string("j-1")),
                (
                    "events",
                    .object(
                        JSONObject([
                            (
                                "https://schemas.openid.net/secevent/risc/event-type/sessions-revoked",
                                .object(JSONObject([("email", .string("ada@example.com"))]))
                            )
                        ]))
                ),
            ]))
        _ = try await world.store.carryOut(
            GoogleEventCommand(
                jti: "j-1", payload: Array(token.utf8), events: [], receivedAt: Self.now))
        let html = try await world.html("/events/google")
        #expect(html.contains("sessions-revoked") && html.contains("up to date"))
        #expect(!html.contains("ada@") && !html.contains(token))
    }

    @Test func `pages of Google's events skip none that came in the same millisecond`() async throws {
        let world = World()
        for number in 0..<120 {
            _ = try await world.store.carryOut(
                GoogleEventCommand(
                    jti: "jti-<\(number)>", payload: [], events: [], receivedAt: Self.now))
        }
        var seen = 0
        var query: [String: String] = [:]
        for _ in 0..<20 {
            let html = try await world.html("/events/google", query: query)
            seen += html.split(separator: "jti-&lt;").count - 1
            guard let next = PageTree(html).way("Next page") else { break }
            query = next
        }
        #expect(seen == 120)
        let newest = try await world.html("/events/google")
        for wrong in ["x", "1.%", "9999999999999999999.", "1"] {
            #expect(try await world.html("/events/google", query: ["from": "50-\(wrong)"]) == newest)
        }
    }

    @Test func `only the feed and Apple's notifications are open to operators of some apps`() {
        let limited = World().pages.filter { $0.access == .operators }.map(\.path)
        #expect(limited == ["/events", "/events/apple"])
    }
}
