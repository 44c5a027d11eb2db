import AppleAccounts
import AuthorizationServer
import HTTPEngine
import Pages
import StorageConformance
import StrictJSON
import TestSupport
import Testing

@testable import HTTPAPI
@testable import OAuth

extension RunningService.Options {
    /// The client `desktop` may use the device grant.
    fileprivate static let deviceGrant: Self = {
        let change: @Sendable (inout OAuthDraft) -> Void = { draft in
            for index in draft.clients.indices where draft.clients[index].id == "desktop" {
                draft.clients[index].allowsDeviceGrant = true
                draft.clients[index].scopes = ["openid", "email", "devices"]
            }
        }
        return Self(hasOAuth: true, oauth: change, tokenClients: change)
    }()
}

/// The device grant over HTTP: a device that asks and polls, and a user with a browser.
@Suite(.service(.deviceGrant)) struct DevicePageTests {
    let service = RunningService.current
    let visitor = AuthorizeVisitor(.current)

    static let tv = "ExampleTV/1.0 (living <room>)"

    struct Device {
        let code: String
        let userCode: String

        var path: String { "/oauth/device?user_code=\(userCode)" }
    }

    static func post(
        _ service: RunningService, _ path: String, _ form: [(String, String)],
        _ fields: [String: String] = [:]
    ) async throws -> ProbeResponse {
        let body = form.map { "\($0.0)=\(WebVisitor.encode($0.1))" }.joined(separator: "&")
        let all = ["Content-Type": "application/x-www-form-urlencoded", "User-Agent": tv].merging(fields) {
            $1
        }
        return try await service.post(path, body: body, secret: nil, fields: all)
    }

    static func begin(_ service: RunningService, scope: String? = nil) async throws -> Device {
        let form = [("client_id", "desktop")] + (scope.map { [("scope", $0)] } ?? [])
        let response = try await post(service, "/oauth/device_authorization", form)
        try #require(response.status == 200, "\(response.text)")
        #expect(response["cache-control"] == "no-store")
        return Device(
            code: try #require(response.json?["device_code"]?.string),
            userCode: try #require(response.json?["user_code"]?.string))
    }

    static func poll(_ service: RunningService, _ device: Device) async throws -> ProbeResponse {
        try await post(
            service, "/oauth/token",
            [
                ("client_id", "desktop"), ("device_code", device.code),
                ("grant_type", "urn:ietf:params:oauth:grant-type:device_code"),
            ])
    }

    /// The page that asks for consent, as a browser reads it.
    struct Consent {
        let response: ProbeResponse
        let action: String
        let token: String

        init(_ response: ProbeResponse) throws {
            try #require(response.status == 200, "\(response.status) \(response.text)")
            self.response = response
            action = try #require(response.text.firstMatch(of: #/method="post" action="([^"]*)"/#)).1
                .htmlUnescaped
            token = String(
                try #require(response.text.firstMatch(of: #/name="csrf_token" value="([^"]*)"/#)).1)
        }
    }

    static func consent(_ visitor: AuthorizeVisitor, _ path: String) async throws -> Consent {
        let first = try await visitor.get(path)
        return try Consent(first.status == 303 ? try await visitor.signIn(after: first) : first)
    }

    static func answer(
        _ visitor: AuthorizeVisitor, _ page: Consent, _ decision: String, devices: Bool = true
    ) async throws -> ProbeResponse {
        try await visitor.post(
            page.action,
            [("csrf_token", page.token), ("decision", decision)] + (devices ? [("scope:devices", "1")] : []))
    }

    @Test(arguments: [
        (PageLanguage.english, ["started just now", "started <bdi>1</bdi> min ago"]),
        (
            .arabic,
            [
                "بدأ قبل لحظات", "بدأ قبل دقيقة واحدة", "بدأ قبل دقيقتين", "بدأ قبل <bdi>3</bdi> دقائق",
                "بدأ قبل <bdi>4</bdi> دقائق",
            ]
        ), (.turkish, ["az önce başlatıldı", "<bdi>1</bdi> dk önce başlatıldı"]),
        (.polish, ["rozpoczęto przed chwilą", "rozpoczęto <bdi>1</bdi> min temu"]),
    ])
    func `the age of a request is in words of the language`(language: PageLanguage, texts: [String]) {
        for (minutes, text) in texts.enumerated() {
            #expect(DeviceTexts.started(minutesAgo: Int64(minutes), in: language).string == text)
        }
    }

    @Test(arguments: [(10, "دقائق"), (11, "دقيقة"), (59, "دقيقة"), (100, "دقيقة"), (103, "دقائق")])
    func `minutes of Arabic have the form of their number`(minutes: Int64, noun: String) {
        let text = DeviceTexts.started(minutesAgo: minutes, in: .arabic).html
        #expect(text == "بدأ قبل <bdi>\(minutes)</bdi> \(noun)")
    }

    @Test func `a user who has refused, and the facts of a request, have the words of the language`() {
        #expect(DeviceTexts.of(.arabic).refusedTitle == "لقد رفضتَ الطلب")
        #expect(DeviceTexts.of(.polish).origin == "Szczegóły prośby:")
        #expect(
            DeviceTexts.of(.polish).warning.contains(
                "jeśli to Ty rozpoczynasz tę operację na własnym urządzeniu"))
        #expect(DeviceTexts.of(.turkish).refused.contains("hesabınıza erişemeyecek"))
    }

    @Test func `a user enters the code, signs in, sees from where the request came, and agrees`() async throws
    {
        let device = try await Self.begin(service)
        #expect(try await Self.poll(service, device).json?["error"]?.string == "authorization_pending")
        let form = try await visitor.get("/oauth/device").expecting(200)
        #expect(form.text.contains(#"<form method="get" action="/oauth/device">"#))
        #expect(form.text.contains(#"name="user_code""#))
        #expect(form.text.contains(#"<input type="hidden" name="entered" value="1">"#))
        // A redirect to Apple that answers a form is refused by browsers, so a page leads on.
        let onward = try await visitor.get("\(device.path)&entered=1")
        #expect(onward.status == 200 && onward["refresh"] == "0; url=\(device.path)")
        #expect(onward.text.contains("href=\"\(device.path)\""))
        // As a person types it.
        let typed = device.userCode.lowercased().replacing("-", with: "+")
        let redirect = try await visitor.get("/oauth/device?user_code=\(typed)")
        #expect(redirect["location"]?.hasPrefix("https://appleid.apple.com/auth/authorize?") == true)
        let page = try Self.Consent(try await visitor.signIn(after: redirect))
        for text in [
            "<bdi>Example Desktop</bdi>", "<b dir=\"ltr\">\(device.userCode)</b>",
            "address <bdi>127.0.0.1</bdi>", "program <bdi>ExampleTV/1.0 (living &lt;room&gt;)</bdi>",
            "started just now", "Control your devices", "Signed in as", "If someone sent you this link",
        ] { #expect(page.response.text.contains(text), "\(text)") }
        let answer = try await Self.answer(visitor, page, "agree", devices: false)
        #expect(answer.status == 200 && answer.text.contains("Your device is connected"))
        let tokens = try await Self.poll(service, device).expecting(200)
        #expect(tokens.json?["scope"]?.string == "openid email")
        #expect(tokens.json?["refresh_token"] != nil && tokens.json?["id_token"] != nil)
        let introspection = try await Self.post(
            service, "/oauth/introspect", [("token", tokens.json?["access_token"]?.string ?? "")],
            ["Authorization": "Bearer \(RunningService.secret)"])
        #expect(introspection.json?["active"]?.bool == true)
        let events = try await service.get("/v1/events")
        #expect(events.json?["events"]?.array?.last?["type"]?.string == "grant_created")
        let metrics = try await service.get("/metrics")
        for line in [
            "siwa_oauth_device_page_total{client=\"none\",outcome=\"asked\"} 1\n",
            "siwa_oauth_device_page_total{client=\"desktop\",outcome=\"agreed\"} 1\n",
            "siwa_oauth_device_requests_total{client=\"desktop\",result=\"begun\"} 1\n",
            "reason=\"authorization_pending\"} 1\n",
        ] { #expect(metrics.text.contains(line), "\(line)") }
        let log = service.loggedText()
        #expect(!log.contains(device.code) && !log.contains(device.userCode))
        // The code is used up.
        let again = try await visitor.get(device.path)
        #expect(again.status == 400 && again.text.contains("No device waits with this code"))
    }

    @Test func `a user who refuses, or allows nothing, ends the wait of the device`() async throws {
        for (decision, scope) in [("cancel", "openid"), ("agree", "devices")] {
            let device = try await Self.begin(service, scope: scope)
            let page = try await Self.consent(visitor, device.path)
            let answer = try await Self.answer(visitor, page, decision, devices: false)
            #expect(answer.status == 200 && answer.text.contains("You have refused"))
            let refused = try await Self.poll(service, device)
            #expect(refused.status == 400 && refused.json?["error"]?.string == "access_denied")
            let late = try await Self.answer(visitor, page, "agree")
            #expect(late.status == 400 && late.text.contains("not valid any more"))
        }
    }

    @Test func `CSRF on a device: only the form of this session and this device counts`() async throws {
        let (device, second) = (try await Self.begin(service), try await Self.begin(service))
        let page = try await Self.consent(visitor, device.path)
        let other = try await Self.consent(visitor, second.path)
        let foreign = try await Self.consent(AuthorizeVisitor(service), device.path)
        for token in [nil, "", "x", other.token, foreign.token] as [String?] {
            for decision in ["agree", "cancel"] {
                let form = (token.map { [("csrf_token", $0)] } ?? []) + [("decision", decision)]
                let answer = try await visitor.post(page.action, form)
                #expect(answer.status == 403 && answer.text.contains("form_refused"), "\(token ?? "none")")
            }
        }
        for (origin, site) in [("https://evil.example", nil), ("null", "cross-site")]
            as [(String, String?)]
        {
            let text = "csrf_token=\(WebVisitor.encode(page.token))&decision=agree"
            let answer = try await visitor.post(page.action, text: text, from: origin, site: site)
            #expect(answer.status == 403 && answer.text.contains("form_refused"))
        }
        let json = try await visitor.post(page.action, text: "{}", type: "application/json")
        #expect(json.status == 403)
        let stranger = AuthorizeVisitor(service)
        let answer = try await Self.answer(stranger, page, "agree")
        #expect(answer.status == 403 && answer.text.contains("login_required"))
        #expect(try await Self.poll(service, device).json?["error"]?.string == "authorization_pending")
        #expect(try await Self.answer(visitor, page, "agree").status == 200)
    }

    @Test func `clickjacking: no page of the device can be framed, or posts elsewhere`() async throws {
        let device = try await Self.begin(service)
        let pages = [
            try await visitor.get("/oauth/device"), try await visitor.get("/oauth/device?user_code=x"),
            try await Self.consent(visitor, device.path).response,
        ]
        for page in pages {
            let policy = try #require(page["content-security-policy"])
            #expect(policy.contains("frame-ancestors 'none'") && policy.contains("form-action 'self';"))
            #expect(page["x-frame-options"] == "DENY" && page["referrer-policy"] == "no-referrer")
            #expect(page["cache-control"]?.contains("no-store") == true)
            #expect(!page.text.contains("<script"))
        }
    }

    @Test func `guessing: an address that enters wrong codes waits, also with a right code`() async throws {
        let device = try await Self.begin(service)
        let letters = Array("BCDFGHJKLMNPQRSTVWXZ")
        var statuses: [Int: Int] = [:]
        for number in 0..<2000 {
            let places = (0..<8).map { (place: Int) -> Int in
                let digit = (number >> (place * 2)) % 4
                return digit + place % 5
            }
            let code = String(places.map { letters[$0] })
            guard code != device.userCode.replacing("-", with: "") else { continue }
            let page = try await visitor.get("/oauth/device?user_code=\(code)")
            statuses[page.status, default: 0] += 1
            if page.status == 429 { #expect(page["retry-after"] == "1") }
        }
        #expect(statuses[400] == 10)
        #expect(statuses[429] ?? 0 >= 1989)
        let right = try await visitor.get(device.path)
        #expect(right.status == 429 && right.text.contains("too many wrong codes"))
        #expect(right["retry-after"] == "1" && right.text.contains("<bdi>0:01</bdi>"))
        service.clock.advance(by: .seconds(1))
        #expect(try await visitor.get(device.path).status == 303)
    }

    @Test func `a code that no device shows costs no look-up, and markup in it is not shown`() async throws {
        for entry in [
            "", "AEIOUAEI", "BCDFGHJ", "%3Cscript%3Ealert(1)%3C/script%3E", "%FF", "BCDFGHJK&user_code=x",
            String(repeating: "B", count: 4000),
        ] {
            for _ in 0..<12 {
                let page = try await visitor.get("/oauth/device?user_code=\(entry)")
                #expect(page.status == 400 || (entry.isEmpty && page.status == 200), "\(entry)")
                #expect(!page.text.contains("<script"))
            }
        }
    }

    @Test func `a user whose account is disabled sees a page, and the device goes on waiting`() async throws {
        let device = try await Self.begin(service)
        let page = try await Self.consent(visitor, device.path)
        let id = try #require(try await service.account()).id.rawValue
        let disabled = try await service.post("/v1/accounts/\(id)/disable", body: #"{"reason":"abuse"}"#)
        try #require(disabled.status == 200)
        for response in [
            try await Self.answer(visitor, page, "agree"),
            // The session has ended, and the sign-in at Apple is refused.
            try await visitor.get(
                WebVisitor.target(of: try await visitor.ticket(after: try await visitor.get(device.path)))),
        ] {
            #expect(response.status == 403 && response.text.contains("account_disabled"))
            #expect(response.text.contains("This account is disabled"))
        }
        #expect(try await Self.poll(service, device).json?["error"]?.string == "authorization_pending")
        _ = try await service.post("/v1/accounts/\(id)/enable", body: "{}")
        let again = try await Self.consent(visitor, device.path)
        #expect(try await Self.answer(visitor, again, "agree").status == 200)
        _ = try await service.post("/v1/accounts/\(id)/disable", body: #"{"reason":"abuse"}"#)
        let refused = try await Self.poll(service, device)
        #expect(refused.status == 400 && refused.json?["error"]?.string == "invalid_grant")
    }

    @Test func `a consent that is withdrawn before the next poll gives no tokens`() async throws {
        let device = try await Self.begin(service)
        let page = try await Self.consent(visitor, device.path)
        #expect(try await Self.answer(visitor, page, "agree").status == 200)
        let revoked = try await service.post(
            "/v1/apple/notifications", body: try Bodies.notification(), secret: nil)
        #expect(revoked.status == 200)
        #expect(try await Self.poll(service, device).json?["error"]?.string == "invalid_grant")
    }

    @Test(arguments: PageLanguage.allCases)
    func `the texts of a language have the same values, and the pages show them`(language: PageLanguage)
        async throws
    {
        func values(_ texts: DeviceTexts) -> [[String]] {
            Mirror(reflecting: texts).children.compactMap { $0.value as? String }
                .map { $0.matches(of: /\{\w+\}/).map { String($0.0) }.sorted() }
        }
        #expect(values(.of(language)) == values(.of(.english)))
        let texts = DeviceTexts.of(language)
        let device = try await Self.begin(service)
        let form = try await visitor.get("/oauth/device?ui_locales=\(language.rawValue)")
        #expect(form["content-language"] == language.rawValue)
        #expect(form.text.contains("<h1>\(texts.title)</h1>"))
        #expect(form.text.contains("name=\"ui_locales\" value=\"\(language.rawValue)\""))
        let page = try await Self.consent(visitor, "\(device.path)&ui_locales=\(language.rawValue)")
        #expect(page.response["content-language"] == language.rawValue)
        #expect(page.response.text.contains(texts.compare))
        let end = try await Self.answer(visitor, page, "agree")
        #expect(end["content-language"] == language.rawValue && end.text.contains(texts.agreedTitle))
    }

    @Test func `the link to another account leads to Apple once more`() async throws {
        let device = try await Self.begin(service)
        let page = try await Self.consent(visitor, device.path)
        let link = try #require(page.response.text.firstMatch(of: #/<a href="(\/oauth\/device[^"]*)"/#)).1
            .htmlUnescaped
        #expect(link.hasSuffix("&prompt=select_account"))
        let redirect = try await visitor.get(link)
        #expect(redirect["location"]?.hasPrefix("https://appleid.apple.com/") == true)
        let other = try Self.Consent(try await visitor.signIn(after: redirect))
        #expect(try await Self.answer(visitor, other, "agree").status == 200)
    }

    @Test func `a sign-in that the user cancels at Apple leads to a page with a way back`() async throws {
        let device = try await Self.begin(service)
        let redirect = try await visitor.get(device.path)
        let state = WebVisitor.parameters(of: redirect["location"] ?? "")["state"] ?? ""
        let denied = try await WebVisitor(service).post(
            [("error", "user_cancelled_authorize"), ("state", state)])
        let page = try await visitor.get(WebVisitor.target(of: try #require(denied["location"])))
        #expect(page.status == 403 && page.text.contains("login_required"))
        #expect(page.text.contains("href=\"\(device.path)\""))
    }

    @Test func `the endpoint refuses other clients, scopes, queries and forms`() async throws {
        let path = "/oauth/device_authorization"
        let secret = "shop-secret"
        for (form, status, error) in [
            ([("client_id", "shop"), ("client_secret", secret)], 400, "unauthorized_client"),
            ([("client_id", "shop"), ("client_secret", "x")], 401, "invalid_client"),
            ([("client_id", "x")], 401, "invalid_client"), ([], 401, "invalid_client"),
            ([("client_id", "desktop"), ("client_secret", "x")], 401, "invalid_client"),
            ([("client_id", "desktop"), ("scope", "history")], 400, "invalid_scope"),
            ([("client_id", "desktop"), ("resource", "https://x.example")], 400, "invalid_target"),
            ([("client_id", "desktop"), ("scope", "openid"), ("scope", "email")], 400, "invalid_request"),
        ] as [([(String, String)], Int, String)] {
            let response = try await Self.post(service, path, form)
            #expect(response.status == status && response.json?["error"]?.string == error, "\(form)")
        }
        let query = try await Self.post(service, "\(path)?client_id=desktop", [("client_id", "desktop")])
        #expect(query.status == 400)
        let json = try await Self.post(
            service, path, [("client_id", "desktop")], ["Content-Type": "application/json"])
        #expect(json.status == 400)
        #expect(try await service.get(path, secret: nil).status == 405)
    }

    @Test func `the metadata names the endpoint and the grant type, only where a client may use them`()
        async throws
    {
        let metadata = try await service.get("/.well-known/oauth-authorization-server").json
        #expect(
            metadata?["device_authorization_endpoint"]?.string?.hasSuffix("/oauth/device_authorization")
                == true)
        let grants = metadata?["grant_types_supported"]?.array?.compactMap(\.string)
        #expect(grants?.contains("urn:ietf:params:oauth:grant-type:device_code") == true)
        var without = RunningService.Options(oauth: { _ in })
        without.hasOAuth = true
        try await RunningService.with(without) { service in
            let metadata = try await service.get("/.well-known/oauth-authorization-server").json
            #expect(metadata?["device_authorization_endpoint"] == nil)
            #expect(try await service.get("/oauth/device", secret: nil).status == 404)
            let form = [("client_id", "desktop")]
            #expect(try await Self.post(service, "/oauth/device_authorization", form).status == 404)
        }
    }

    /// 256 networks of one home line, and then every address: the page is closed for browsers without a session.
    @Test(.service(.deviceGrant) { $0.limits.trustedProxies = [try #require(AddressBlock("127.0.0.1"))] })
    func `a browser with a session is looked up whatever others guess, and waits for its own guesses`()
        async throws
    {
        let visitor = AuthorizeVisitor(service)
        let (first, second) = (try await Self.begin(service), try await Self.begin(service))
        _ = try await Self.consent(visitor, first.path)
        let stranger = AuthorizeVisitor(service)
        func guess(_ address: String) async throws -> Int {
            stranger.fields["X-Forwarded-For"] = address
            return try await stranger.get("/oauth/device?user_code=BBBBBBBB").status
        }
        var counts: [Int: Int] = [:]
        for number in 0..<256 {
            counts[try await guess("2001:db8:0:\(String(number, radix: 16))::1"), default: 0] += 1
        }
        // Ten are free for a machine, and twice as many for all of the line.
        #expect(counts == [400: 20, 429: 236])
        // Another home is not concerned.
        #expect(try await guess("2001:db8:9::1") == 400)
        for number in 0..<1000 { _ = try await guess("198.51.\(number >> 8).\(number & 255)") }
        stranger.fields["X-Forwarded-For"] = "203.0.113.9"
        let closed = try await stranger.get(second.path).expecting(429)
        let seconds = try #require(closed["retry-after"].flatMap { Int($0) })
        #expect(seconds > 60)
        #expect(closed.text.contains("\(seconds / 60):\(seconds % 60 < 10 ? "0" : "")\(seconds % 60)</bdi>"))
        // The browser with a session is at the address of the guesser.
        visitor.fields["X-Forwarded-For"] = "2001:db8::1"
        #expect(try await Self.consent(visitor, second.path).response.status == 200)
        var own: [Int: Int] = [:]
        for _ in 0..<20 {
            own[try await visitor.get("/oauth/device?user_code=BBBBBBBB").status, default: 0] += 1
        }
        #expect(own == [400: 10, 429: 10])
    }
}
