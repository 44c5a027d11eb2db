import AppleAccounts
import Foundation
import Pages
import TestSupport
import Testing

@testable import Console
@testable import HTTPAPI

@Suite struct RequestsPagesTests {
    private static let viewer = ConsoleViewer(
        name: "operator", scope: .all, isDevelopment: true, formToken: "t")

    private static func add(
        _ recent: RecentRequests, id: String = "r1", status: Int = 200, code: String? = nil,
        caller: String? = "backend", client: String? = nil, isProven: Bool? = nil,
        route: String = "/v1/sign-ins",
        method: String = "POST", reason: String? = nil, refusal: RecentRefusal? = nil,
        exchange: KeptExchange? = nil, microseconds: Int64 = 1582
    ) {
        recent.append { number in
            RecentRequest(
                number: number, time: 1_767_225_600_123, method: method, route: route, status: status,
                code: code, caller: caller, client: client,
                isProven: isProven ?? (caller != nil || client != nil), microseconds: microseconds, begin: 0,
                requestID: id,
                traceID: nil,
                reason: reason, grantType: nil, refusal: refusal, exchange: exchange)
        }
    }

    private static func exchange(_ body: String, authorization: String? = nil) -> KeptExchange {
        KeptExchange(
            target: "/v1/sign-ins", contentType: "application/json", authorization: authorization,
            body: Array(body.utf8), isBodyCut: false, response: Array("{}".utf8), responseType: nil,
            location: nil)
    }

    private static func open(
        _ pages: RequestsPages, _ path: String, by method: ConsolePage.Method = .get,
        query: [String: String] = [:], number: Int? = nil
    ) async throws -> ConsoleAnswer {
        let page = try #require(pages.pages.first { $0.method == method && $0.path == path })
        return try await page.handle(
            ConsoleRequest(
                requestID: "x", parameters: number.map { ["number": String($0)] } ?? [:], query: query,
                viewer: viewer, now: Moment(milliseconds: 0)))
    }

    private static func html(_ answer: ConsoleAnswer) throws -> String {
        try #require(answer.html())
    }

    @Test func `the list has pages, and is sorted by time or duration`() async throws {
        let recent = RecentRequests(keepsExchanges: false)
        // The durations have another order than the numbers.
        for number in 1...450 as ClosedRange<Int64> {
            Self.add(recent, id: "r\(number)", microseconds: number * 7 % 450)
        }
        let pages = RequestsPages(recent: recent, address: "")
        func list(_ query: [String: String]) async throws -> PageTree {
            PageTree(try Self.html(try await Self.open(pages, "/requests", query: query)))
        }
        let first = try await list(["caller": "backend"])
        #expect(first.rows("Requests").compactMap(\.last).first == "r450")
        #expect(first.all("nav", "pager").first?.text == "1 to 200 of 450 Next page")
        let second = try await list(try #require(first.way("Next page")))
        let last = try await list(try #require(second.way("Next page")))
        #expect(last.rows("Requests").count == 50 && last.way("Next page") == nil)
        #expect(last.way("Previous page") == ["caller": "backend", "from": "200"])
        #expect(try await list(["order": "oldest"]).rows("Requests").first?.last == "r1")
        for (order, durations) in [("slowest", ["449 µs", "448 µs"]), ("fastest", ["0 µs", "1 µs"])] {
            let rows = try await list(["order": order]).rows("Requests")
            #expect(rows.prefix(2).map { $0[5] } == durations)
        }
    }

    @Test func `the page of a refusal names the check, what it expects and what it found`() async throws {
        let recent = RecentRequests(keepsExchanges: false)
        Self.add(
            recent, id: "r7", status: 401, code: "token_expired",
            refusal: RecentRefusal(check: "expiration", expected: "past its exp", found: "exp=1767225000"))
        let pages = RequestsPages(recent: recent, address: "https://siwa.test")
        guard case .redirect("/requests/1", _) = try await Self.open(pages, "/requests", query: ["id": "r7"])
        else {
            Issue.record("the ID of one request leads to its page")
            return
        }
        let html = try Self.html(try await Self.open(pages, "/requests/{number}", number: 1))
        for text in [
            "token_expired", "expiration", "past its exp",
            "exp = 2025-12-31T23:50:00.000Z, 10 min before the request", "docs/api.md",
            "The token (401, 403)", "$SIWA_API_KEY", "https://siwa.test/v1/sign-ins", "1.5 ms",
        ] {
            #expect(html.contains(text), "\(text) in \(html)")
        }
        #expect(!html.contains("Send again"))
    }

    @Test(
        arguments: [
            ("token_expired", nil, "/console/codes#code-token_expired"),
            ("caller_unauthenticated", nil, "/console/codes#code-caller_unauthenticated"),
            ("invalid_token", nil, "/console/codes#code-invalid_token"),
            ("invalid_grant", "code_expired", "/console/codes#reason-code_expired"),
            ("unlisted", nil, nil),
        ] as [(String, String?, String?)])
    func `a refusal leads to the meaning of its code`(
        code: String, reason: String?, link: String?
    ) async throws {
        let recent = RecentRequests(keepsExchanges: false)
        Self.add(
            recent, status: 401, code: code, reason: reason,
            refusal: RecentRefusal(check: "c", expected: "e", found: "f"))
        let pages = RequestsPages(recent: recent, address: "")
        let html = try Self.html(try await Self.open(pages, "/requests/{number}", number: 1))
        #expect(html.contains("<dt>Expected</dt><dd>e</dd>") && html.contains("<dt>Found</dt><dd>f</dd>"))
        #expect(html.contains("What the code means") == (link != nil))
        guard let link else { return }
        #expect(html.contains("href=\"\(link)\""))
        let codes = try Self.html(try await Self.open(pages, "/codes"))
        let anchor = try #require(link.split(separator: "#").last)
        #expect(codes.split(separator: "<tr id=\"\(anchor)\">").count == 2, "\(anchor)")
    }

    @Test func `a request of development leads to its token in the inspector`() async throws {
        let recent = RecentRequests(keepsExchanges: true)
        Self.add(
            recent, status: 401, code: "nonce_mismatch",
            exchange: Self.exchange(
                #"{"identity_token":"a.<b>.c","nonce":"n","authorization_code":"d","access_token":"e"}"#))
        Self.add(recent, id: "r2", exchange: Self.exchange(#"{"limit":1}"#))
        let pages = RequestsPages(recent: recent, address: "")
        let html = try Self.html(try await Self.open(pages, "/requests/{number}", number: 1))
        #expect(html.contains("<button class=\"secondary\">Inspect its token</button>"))
        // The token is in the body of a post, never in an address.
        #expect(html.contains("<form method=\"post\" action=\"/console/tokens\">"))
        for field in [
            "name=\"request\" value=\"1\"", "name=\"token\" value=\"a.&lt;b&gt;.c\"",
            "name=\"nonce\" value=\"n\"", "name=\"authorization_code\" value=\"d\"",
            "name=\"access_token\" value=\"e\"", "name=\"csrf\" value=\"t\"",
        ] { #expect(html.contains(field), "\(field)") }
        let without = try Self.html(try await Self.open(pages, "/requests/{number}", number: 2))
        #expect(!without.contains("Inspect its token"))
    }

    @Test func `every code has one row, and its place in the documentation`() {
        let page = PageTree(CodeList.page.string)
        let ids = page.all("tr").compactMap { $0.attributes["id"] }
        #expect(Set(ids).count == ids.count && ids.count > 100)
        let places = DocumentationPlace.all.map { "\($0.file), “\($0.heading)”" }
        #expect(page.rows().count == ids.count)
        #expect(page.rows().allSatisfy { $0.count == 4 && places.contains($0[3]) })
    }

    @Test func `the list is filtered`() async throws {
        let recent = RecentRequests(keepsExchanges: false)
        Self.add(recent, id: "good-one")
        Self.add(recent, id: "bad-one", status: 401, code: "token_expired")
        Self.add(
            recent, id: "shop-one", status: 400, code: "invalid_grant", caller: nil, client: "shop",
            reason: "code_used")
        Self.add(recent, id: "late-one", status: 503, code: "storage_unavailable", route: "/v1/events")
        let pages = RequestsPages(recent: recent, address: "")
        for (query, expected) in [
            ([:], ["good-one", "bad-one", "shop-one", "late-one"]),
            (["show": "refused"], ["bad-one", "shop-one", "late-one"]), (["code": "code_used"], ["shop-one"]),
            (["code": "503"], ["late-one"]), (["caller": "shop"], ["shop-one"]),
            // As the overview names it.
            (["caller": "client:shop"], ["shop-one"]), (["caller": "none"], []),
            (["route": "events"], ["late-one"]), (["code": "x"], []), (["id": "unknown"], []),
        ] as [([String: String], [String])] {
            let html = try Self.html(try await Self.open(pages, "/requests", query: query))
            for id in ["good-one", "bad-one", "shop-one", "late-one"] {
                #expect(html.contains(">\(id)<") == expected.contains(id), "\(query) \(id)")
            }
        }
    }

    @Test func `what clients send is escaped`() async throws {
        let recent = RecentRequests(keepsExchanges: true)
        let evil = "<script>alert(1)</script>'\"&"
        Self.add(
            recent, id: "r1", method: evil, refusal: RecentRefusal(check: evil, expected: evil, found: evil),
            exchange: Self.exchange(evil))
        let pages = RequestsPages(recent: recent, address: "http://x")
        for answer in [
            try await Self.open(pages, "/requests"),
            try await Self.open(pages, "/requests/{number}", number: 1),
            try await Self.open(pages, "/requests", query: ["code": evil, "caller": evil, "route": evil]),
        ] {
            #expect(!(try Self.html(answer)).contains("<script>"))
        }
    }

    @Test func `a command has variables for secrets, and nothing leaves its quotes`() throws {
        let recent = RecentRequests(keepsExchanges: true)
        Self.add(
            recent, caller: nil, client: "shop", route: "/oauth/token",
            exchange: Self.exchange(
                "grant_type=x&client_secret=s3cret&a='; rm -rf /&client_secret=s3cret2",
                authorization: "Basic c2hvcDpzM2NyZXQ="))
        Self.add(recent, exchange: Self.exchange("{}", authorization: "Bearer siwa_abc"))
        let commands = recent.all.map { CurlCommand($0, address: "http://127.0.0.1:8080").text }
        for command in commands {
            #expect(
                !command.contains("s3cret") && !command.contains("siwa_abc") && !command.contains("c2hvc"))
        }
        let body =
            #"'grant_type=x&client_secret='"$CLIENT_SECRET"'&a='\''; rm -rf /&client_secret='"$CLIENT_SECRET""#
        #expect(commands[1].contains(body), "\(commands[1])")
        #expect(commands[0].contains("Bearer $SIWA_API_KEY"))
    }

    private static let key = #"-H "Authorization: Bearer $SIWA_API_KEY""#
    private static let secret = #"-u "$CLIENT_ID:$CLIENT_SECRET""#
    private static let token = #"-H "Authorization: Bearer $ACCESS_TOKEN""#

    struct Sent: Sendable {
        let request: (method: String, route: String)
        var caller: String?
        var client: String?
        var isProven = false
        var reason: String?
        var credential: String?
        /// The beginning of the steps.
        var steps: String?
    }

    /// Requests of production, of which no exchange is kept.
    @Test(arguments: [
        // Apple is a caller in the log, and has no key.
        Sent(
            request: ("POST", "/v1/apple/notifications"), caller: "apple", isProven: true,
            steps: "Write the body into body.json"),
        Sent(
            request: ("POST", "/v1/sign-ins"), caller: "backend", isProven: true, credential: key,
            steps: "Set SIWA_API_KEY. Write the body into body.json"),
        Sent(
            request: ("GET", "/v1/credentials/{sub}"), credential: key,
            steps: "Set SIWA_API_KEY. Fill in the names in braces"),
        Sent(
            request: ("POST", "/v1/nonces"), caller: "backend", isProven: true, credential: key,
            steps: "Set SIWA_API_KEY."),
        Sent(request: ("GET", "/health")), Sent(request: ("HEAD", "/livez")),
        Sent(
            request: ("POST", "/oauth/token"), client: "shop", isProven: true, credential: secret,
            steps: "Set CLIENT_ID and CLIENT_SECRET. Write"),
        Sent(
            request: ("POST", "/oauth/token"), client: "shop", reason: "client_not_authenticated",
            credential: secret, steps: "Set CLIENT_ID and CLIENT_SECRET. Write"),
        // A public client.
        Sent(
            request: ("POST", "/oauth/token"), client: "desktop", reason: "code_expired",
            steps: "Write the body into body.txt"),
        Sent(
            request: ("POST", "/oauth/introspect"), caller: "backend", isProven: true, credential: key,
            steps: "Set SIWA_API_KEY. Write the body"),
        Sent(
            request: ("GET", "/oauth/userinfo"), client: "shop", isProven: true, credential: token,
            steps: "Set ACCESS_TOKEN."),
        Sent(
            request: ("POST", "/v1/google/security-events"), steps: "Write the body into body.txt"),
        Sent(request: ("GET", "none"), steps: "Fill in the names in braces"),
    ])
    func `a command has the credential of its call, and says what to do first`(sent: Sent) throws {
        let recent = RecentRequests(keepsExchanges: false)
        Self.add(
            recent, caller: sent.caller, client: sent.client, isProven: sent.isProven,
            route: sent.request.route, method: sent.request.method, reason: sent.reason)
        let command = CurlCommand(try #require(recent.all.first), address: "https://siwa.test")
        for known in [Self.key, Self.secret, Self.token] {
            #expect(command.text.contains(known) == (known == sent.credential), "\(command.text)")
        }
        #expect((command.steps == nil) == (sent.steps == nil), "\(command.steps ?? "none")")
        #expect(command.steps?.hasPrefix(sent.steps ?? "") ?? true, "\(command.steps ?? "none")")
        #expect(command.text.contains("--globoff") == (sent.steps?.contains("braces") ?? false))
        #expect(command.text.contains("@body") == (sent.steps?.contains("Write") ?? false))
    }

    @Test(
        arguments: [
            ("Basic c2hvcDpzM2NyZXQ=", "grant_type=x", "Set CLIENT_ID and CLIENT_SECRET."),
            (nil, "client_id=shop&client_secret=x", "Set CLIENT_SECRET."),
            (nil, "client_id=desktop", nil),
        ] as [(String?, String, String?)])
    func `a command of development sends what its client sent`(
        authorization: String?, body: String, steps: String?
    ) async throws {
        let recent = RecentRequests(keepsExchanges: true)
        Self.add(
            recent, caller: nil, client: "shop", isProven: false, route: "/oauth/token",
            exchange: Self.exchange(body, authorization: authorization))
        let command = CurlCommand(try #require(recent.all.first), address: "")
        #expect(command.text.contains(Self.secret) == (authorization != nil))
        #expect(command.steps == steps)
        let pages = RequestsPages(recent: recent, address: "")
        let html = try Self.html(try await Self.open(pages, "/requests/{number}", number: 1))
        #expect(html.contains("<code id=\"command\">") && html.contains("data-copy=\"command\""))
        #expect(!html.contains("SIWA_API_KEY"))
    }

    @Test func `in development a request is sent again, and the next page is the new one`() async throws {
        let recent = RecentRequests(keepsExchanges: true)
        Self.add(recent, exchange: Self.exchange("{}"))
        let audit = RecordingAudit()
        let pages = RequestsPages(recent: recent, address: "", audit: audit.record) { request, id in
            #expect(audit.entries.map(\.facts.action) == [.requestReplayed])
            #expect(request.exchange?.body == Array("{}".utf8))
            Self.add(recent, id: id)
            return 201
        }
        guard
            case .redirect("/requests/2", let notice?) = try await Self.open(
                pages, "/requests/{number}/replay", by: .post, number: 1)
        else {
            Issue.record("no redirect")
            return
        }
        #expect(notice.contains("201"))
        // The new one has no exchange here.
        guard case .refused = try await Self.open(pages, "/requests/{number}/replay", by: .post, number: 2)
        else {
            Issue.record("sent without a body")
            return
        }
        guard case .notFound = try await Self.open(pages, "/requests/{number}/replay", by: .post, number: 9)
        else {
            Issue.record("there is no such request")
            return
        }
        #expect(audit.entries.map(\.facts.actor) == [.consoleOperator("operator")])
        // Nothing is sent that the audit log does not know.
        audit.fail()
        await #expect(throws: RecordingAudit.Failure.self) {
            _ = try await Self.open(pages, "/requests/{number}/replay", by: .post, number: 1)
        }
        #expect(recent.count == 2)
    }

    @Test func `operators of some apps and production have no part in it`() {
        let pages = RequestsPages(recent: RecentRequests(keepsExchanges: false), address: "").pages
        for page in pages {
            switch page.access {
            case .operators: Issue.record("\(page.path) is open to operators of some apps")
            case .operatorsOfAllApps: #expect(page.method == .get)
            case .development: #expect(page.path.hasSuffix("/replay"))
            }
        }
    }

    @Test func `what outsiders send does not push out what callers sent`() {
        let recent = RecentRequests(keepsExchanges: false)
        Self.add(recent, id: "refused", status: 401, code: "x")
        Self.add(recent, id: "accepted")
        for number in 0..<10_000 { Self.add(recent, id: "flood\(number)", status: 401, caller: nil) }
        #expect(recent.all.count == RecentRequests.unknownBound + 2)
        #expect(recent.requests(withID: "refused").count == 1)
        #expect(recent.requests(withID: "accepted").count == 1)
        #expect(recent.all.first?.requestID == "flood9999")
        for number in 0..<1000 {
            Self.add(recent, id: "a\(number)")
            Self.add(recent, id: "b\(number)", status: 500)
        }
        let most =
            RecentRequests.unknownBound + RecentRequests.acceptedBound + RecentRequests.refusedBound
        #expect(recent.all.count == most)
        #expect(recent.count == 12_002)
    }

    @Test
    func `a request that only names a client is shown as unproven, and is kept beside the unknown ones`()
        async throws
    {
        let recent = RecentRequests(keepsExchanges: false)
        Self.add(recent, id: "proven-one", status: 400, code: "x", caller: nil, client: "shop")
        for number in 0..<1000 {
            Self.add(
                recent, id: "named\(number)", status: 401, code: "x", caller: nil, client: "shop",
                isProven: false)
        }
        #expect(recent.all.count == RecentRequests.unknownBound + 1)
        #expect(recent.requests(withID: "proven-one").count == 1)
        let pages = RequestsPages(recent: recent, address: "")
        let list = try Self.html(try await Self.open(pages, "/requests"))
        #expect(list.contains(">names shop</td>") && !list.contains(">shop</td>"))
        let proven = try Self.html(try await Self.open(pages, "/requests/{number}", number: 1))
        let named = try Self.html(try await Self.open(pages, "/requests/{number}", number: 1001))
        #expect(named.contains("named by the request, not proven") && !proven.contains("not proven"))
        #expect(named.contains("no key and no secret proved who asked"))
    }

    @Test func `bodies in memory are bounded, and those of refusals stay longest`() {
        let recent = RecentRequests(keepsExchanges: true)
        let large = String(repeating: "x", count: KeptExchange.longestBody)
        for _ in 0..<100 { Self.add(recent, status: 400, code: "x", exchange: Self.exchange(large)) }
        for _ in 0..<500 { Self.add(recent, exchange: Self.exchange(large)) }
        let kept = recent.all.filter { $0.exchange != nil }
        let bytes = kept.reduce(0) { $0 + ($1.exchange?.size ?? 0) }
        #expect(bytes <= RecentRequests.exchangeBound)
        #expect(bytes > RecentRequests.exchangeBound / 2)
        #expect(kept.count { $0.isRefused } == 100)
    }

    @Test(arguments: [
        ("exp=1767225660", "exp = 2026-01-01T00:01:00.000Z, 1 min after the request"),
        ("iat=1767225600", "iat = 2026-01-01T00:00:00.000Z, the moment of the request"),
        ("nbf=9223372036854775807", "nbf=9223372036854775807"), ("exp=-1", "exp=-1"), ("exp=x", "exp=x"),
        ("aud=[\"a\"]", "aud=[\"a\"]"), ("", ""),
    ])
    func `a time of a token is shown with its distance`(value: String, text: String) {
        #expect(FoundValue.text(value, at: 1_767_225_600) == text)
    }

    @Test func `every place of the documentation exists`() throws {
        let root = ProjectFolder.root
        for place in DocumentationPlace.all {
            let page = try String(contentsOf: root.appending(path: place.file), encoding: .utf8)
            #expect(page.contains("# \(place.heading)\n"), "\(place)")
        }
    }
}
