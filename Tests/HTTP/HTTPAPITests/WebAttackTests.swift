import Cryptography
import Encodings
import HTTPAPI
import StrictJSON
import TestSupport
import Testing

/// Attacks that sign a user in as another user, or redirect a browser elsewhere.
@Suite(.service()) struct WebAttackTests {
    let service = RunningService.current
    let visitor = WebVisitor(.current)

    private static func isPage(_ answer: ProbeResponse, _ code: String) -> Bool {
        answer.status == 400 && answer["content-type"] == "text/html; charset=utf-8"
            && answer["location"] == nil && answer["set-cookie"] == nil
            && answer.text.contains(
                "<bdi dir=\"ltr\">\(code)</bdi> · <bdi dir=\"ltr\">\(answer["x-request-id"] ?? "")</bdi>")
    }

    enum StateForgery: CaseIterable {
        case absent, empty, word, truncated, changed, extended, ticket, oversized, unknownKey
    }

    @Test(arguments: StateForgery.allCases)
    func `a state that was not made here is refused without a redirect`(forgery: StateForgery) async throws {
        let redirect = try await visitor.begin()
        var form = try visitor.form(for: redirect)
        let state = redirect.state
        switch forgery {
        case .absent: form.removeFirst()
        case .empty: form[0].1 = ""
        case .word: form[0].1 = "state"
        case .truncated: form[0].1 = String(state.dropLast(4))
        case .changed: form[0].1 = state.dropLast(6) + (state.hasSuffix("AAAAAA") ? "BBBBBB" : "AAAAAA")
        case .extended: form[0].1 = state + "AAAA"
        case .ticket:
            let denied = try await visitor.post([("state", state), ("error", "access_denied")])
            form[0].1 = WebVisitor.parameters(of: denied["location"] ?? "")["ticket"] ?? ""
        case .oversized: form[0].1 = String(repeating: "A", count: 12_000)
        case .unknownKey:
            let key = try #require(SealingKey(name: "test", bytes: Array(repeating: 8, count: 32)))
            let ring = try #require(SealingKeyRing([key]))
            form[0].1 = Base64URL.encode(
                ring.seal(
                    Array("{}".utf8), for: SealingPurpose("web_state"),
                    associatedData: Array("web_state".utf8)))
        }
        for fields in [form, [form[0], ("error", "user_cancelled_authorize")]] {
            let answer = try await visitor.post(fields.filter { $0.0 != "" })
            #expect(Self.isPage(answer, "web_state_invalid"))
        }
    }

    @Test func `a state works once, and for ten minutes`() async throws {
        let redirect = try await visitor.begin()
        let form = try visitor.form(for: redirect)
        #expect(try await visitor.post(form).status == 303)
        let other = try visitor.form(for: redirect) { $0["email"] = "other@example.com" }
        let replayed = try await visitor.post(other)
        let parameters = WebVisitor.parameters(of: try await visitor.follow(replayed)["location"] ?? "")
        #expect(parameters["error"] == "invalid_request")
        #expect(parameters["error_description"] == "web_state_used")
        #expect(parameters["code"] == nil)

        let slow = try await visitor.begin()
        service.clock.advance(by: .seconds(599))
        #expect(try await visitor.post(try visitor.form(for: slow)).status == 303)
        let slower = try await visitor.begin()
        service.clock.advance(by: .seconds(600))
        let late = try await visitor.post(try visitor.form(for: slower))
        #expect(Self.isPage(late, "web_state_expired"))
    }

    @Test func `of callbacks with one form at once only one signs in, and all end alike`() async throws {
        let redirect = try await visitor.begin()
        let form = try visitor.form(for: redirect)
        let text = form.map { "\($0.0)=\(WebVisitor.encode($0.1))" }.joined(separator: "&")
        let metrics = try await withThrowingTaskGroup(of: Void.self) { tasks in
            for _ in 0..<8 {
                tasks.addTask { [service = self.service] in _ = try await WebVisitor(service).post(text: text)
                }
            }
            try await tasks.waitForAll()
            return try await service.get("/metrics").text
        }
        #expect(metrics.contains("siwa_web_sign_ins_total{step=\"signed_in\"} 1"))
        #expect(metrics.contains("siwa_web_sign_ins_total{step=\"refused\"} 0"))
    }

    @Test(arguments: [nil, "", "wrong", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA", "another visitor's"])
    func `a sign-in that was begun in another browser gives this one nothing`(cookie: String?) async throws {
        let attacker = WebVisitor(service)
        let redirect = try await attacker.begin()
        let arrived = try await attacker.post(try attacker.form(for: redirect))
        let victim = WebVisitor(service)
        if cookie == "another visitor's" {
            _ = try await victim.begin()
        } else {
            victim.cookie = cookie.map { "__Host-siwa_web=\($0)" }
        }
        let answer = try await victim.follow(arrived)
        #expect(Self.isPage(answer, "web_browser_mismatch"))
        #expect(!answer.text.contains("code="))
        // The browser that began still gets its own.
        #expect(try await attacker.follow(arrived).status == 303)
    }

    enum TicketForgery: CaseIterable {
        case absent, empty, word, truncated, swapped, state, repeated, unknown
    }

    @Test(arguments: TicketForgery.allCases)
    func `a ticket that was not made here is refused`(forgery: TicketForgery) async throws {
        let redirect = try await visitor.begin()
        let arrived = try await visitor.post(try visitor.form(for: redirect))
        let target = WebVisitor.target(of: arrived["location"] ?? "")
        let other = try await WebVisitor(service).begin()
        let (forged, code) =
            switch forgery {
            case .absent: ("/v1/web/finish", "web_ticket_invalid")
            case .empty: ("/v1/web/finish?ticket=", "parameter_malformed")
            case .word: ("/v1/web/finish?ticket=word", "web_ticket_invalid")
            case .truncated: (String(target.dropLast(3)), "web_ticket_invalid")
            case .swapped: (String(target.dropLast(60)) + other.state.suffix(60), "web_ticket_invalid")
            case .state: ("/v1/web/finish?ticket=\(redirect.state)", "web_ticket_invalid")
            case .repeated: (target + "&ticket=a", "parameter_unknown")
            case .unknown: (target + "&redirect_uri=https://evil.example", "parameter_unknown")
            }
        #expect(try await Self.isPage(visitor.get(forged), code))
    }

    @Test func `a ticket and its code are good for two minutes`() async throws {
        let redirect = try await visitor.begin()
        let arrived = try await visitor.post(try visitor.form(for: redirect))
        service.clock.advance(by: .seconds(119))
        let finished = try await visitor.follow(arrived)
        let code = try #require(WebVisitor.parameters(of: finished["location"] ?? "")["code"])
        service.clock.advance(by: .seconds(1))
        #expect(try await Self.isPage(visitor.follow(arrived), "web_ticket_expired"))
        #expect(try await visitor.redeem(code).code == "web_code_invalid")
    }

    @Test(arguments: [
        "redirect_uri=https://evil.example", "redirect_url=https://evil.example", "state=a&state=b",
        "client_id=",
        "next=//evil.example", "nonce=mine", "response_mode=query",
    ])
    func `the link takes no address and no second word`(query: String) async throws {
        let answer = try await WebVisitor(service).begin("?\(query)").response
        #expect(answer.status == 400)
        #expect(["parameter_unknown", "parameter_malformed"].contains(answer.code))
        #expect(answer["location"] == nil)
    }

    @Test(arguments: [
        "com.example.app", "com.example.second", "com.example.none", "https://evil.example",
        "%2F%2Fevil.example",
    ])
    func `only a web client with a page of its own can be named`(clientID: String) async throws {
        let answer = try await WebVisitor(service).begin("?client_id=\(clientID)").response
        #expect(answer.outcome == "404 client_id_unknown")
    }

    @Test(arguments: [
        "%ff", "%", "a%0", "\"x\"", "<script>", "a#b", "a\\b", "a|b", "{}",
        String(repeating: "a", count: 513), String(repeating: "%61", count: 513),
    ])
    func `a state that cannot be handed back unharmed is refused`(state: String) async throws {
        let answer = try await WebVisitor(service).begin("?state=\(state)").response
        #expect(answer.status == 400)
        // A target has no fragment (RFC 9112 §3.2), so that such a request is refused before its query is
        // read.
        #expect(answer.code == (state.contains("#") ? "request_malformed" : "parameter_malformed"))
    }

    @Test(arguments: [
        "%0D%0ASet-Cookie:%20x=1",
        "%0d%0a%0d%0a<html>".replacing("<", with: "%3C").replacing(">", with: "%3E"),
        "a%26code%3Dforged", "%3Cscript%3Ealert(1)%3C/script%3E", "%22%3E%3Cimg", "..//evil.example", "a%23b",
    ])
    func `a hostile state comes back as the text that it is`(state: String) async throws {
        let redirect = try await visitor.begin("?state=\(state)")
        let finished = try await visitor.follow(try await visitor.post(try visitor.form(for: redirect)))
        let location = try #require(finished["location"])
        #expect(location.hasPrefix("https://app.example/apple?from=siwa&code="))
        #expect(location.hasSuffix("&state=\(state)"))
        #expect(location.firstRange(of: "code=")?.lowerBound != nil)
        #expect(location.split(separator: "code=").count == 2)
        #expect(finished["set-cookie"] == nil)
    }

    @Test(arguments: [
        "", "state", "state=%zz", "state=a&state=b", "a=1&&b=2", "state=é",
        (0...20).map { "f\($0)=1" }.joined(separator: "&"),
    ])
    func `a form that no browser writes is refused`(text: String) async throws {
        let answer = try await WebVisitor(service).post(text: text)
        #expect(Self.isPage(answer, "form_malformed"))
    }

    @Test func `a repeated field is refused, also with a good state`() async throws {
        let redirect = try await visitor.begin()
        let form = try visitor.form(for: redirect)
        for name in ["state", "code", "id_token"] {
            let answer = try await visitor.post(form + [(name, "second")])
            #expect(Self.isPage(answer, "form_malformed"))
        }
    }

    @Test func `a form without end is refused`() async throws {
        let answer = try await WebVisitor(service).post(
            text: "state=" + String(repeating: "a", count: 70_000))
        #expect(answer.outcome == "413 body_too_large")
    }

    @Test(arguments: ["application/json", "text/plain", "multipart/form-data; boundary=x"])
    func `the callback takes a form and nothing else`(type: String) async throws {
        let answer = try await service.post(
            "/v1/web/callback", body: "{}", secret: nil, fields: ["Content-Type": type])
        #expect(answer.status == 415)
    }

    @Test func `a page lets nothing in and shows nothing of the request`() async throws {
        let answer = try await WebVisitor(service).get(
            "/v1/web/finish?ticket=%3Cscript%3Ealert(1)%3C/script%3E")
        #expect(Self.isPage(answer, "web_ticket_invalid"))
        let policy = try #require(answer["content-security-policy"])
        #expect(policy.hasPrefix("default-src 'none'; style-src 'sha256-"))
        #expect(policy.contains("frame-ancestors 'none'"))
        #expect(answer["x-content-type-options"] == "nosniff")
        #expect(answer["referrer-policy"] == "no-referrer")
        #expect(answer["cache-control"] == "no-store")
        #expect(!answer.text.contains("<script"))
        #expect(!answer.text.contains("alert"))
        // The policy must name the style that the page really has.
        let parts = answer.text.split(separator: "<style>")
        let style = try #require(parts.last?.split(separator: "</style>").first)
        #expect(policy.contains(Base64.encode(SHA256Digest.hash(String(style)))))
    }

    @Test func `a code is only for a key that may see the app, and burns in the wrong hands`() async throws {
        let code = try #require(try await visitor.visit()["code"])
        let foreign = try await visitor.redeem(code, secret: RunningService.limitedSecret)
        #expect(foreign.outcome == "403 caller_forbidden")
        #expect(try await visitor.redeem(code).code == "web_code_invalid")
        let anonymous = try await service.post(
            "/v1/web/results", body: Bodies.json([("code", .string(code))]), secret: nil)
        #expect(anonymous.status == 401)
    }

    @Test(arguments: [
        ("{}", "member_missing"), (#"{"code":1}"#, "member_malformed"), (#"{"code":""}"#, "member_malformed"),
        (#"{"code":"x"}"#, "web_code_invalid"), (#"{"code":"x","state":"y"}"#, "member_unknown"),
        (#"{"code":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}"#, "web_code_invalid"),
        ("[]", "body_not_json"), (#"{"code":null}"#, "member_missing"),
        (#"{"code":"\u0000"}"#, "character_not_allowed"),
    ])
    func `a code that is none is refused`(body: String, code: String) async throws {
        #expect(try await service.post("/v1/web/results", body: body).outcome == "400 \(code)")
    }
}
