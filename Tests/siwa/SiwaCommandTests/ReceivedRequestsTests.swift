import AuthorizationServer
import EmulatorServer
import Encodings
import Testing
import TokenMint

@testable import HTTPAPI
@testable import siwa_dev

/// Requests that the service received, as exchanges of the fake world.
@Suite struct ReceivedRequestsTests {
    private static let form = "application/x-www-form-urlencoded"

    private static func request(
        _ method: String = "POST", _ route: String = "/oauth/token", number: Int = 1, id: String = "r1",
        code: String? = nil, client: String? = nil, exchange: KeptExchange? = nil
    ) -> RecentRequest {
        RecentRequest(
            number: number, time: 1_767_225_600_123, method: method, route: route, status: 200, code: code,
            caller: nil, client: client, isProven: client != nil, microseconds: 2500, begin: 7_000_000,
            requestID: id, traceID: nil, reason: nil, grantType: nil, refusal: nil, exchange: exchange)
    }

    private static func exchange(
        _ target: String, _ body: String = "", type: String? = form, authorization: String? = nil,
        response: String = "{}", responseType: String? = "application/json", location: String? = nil,
        isBodyCut: Bool = false
    ) -> KeptExchange {
        KeptExchange(
            target: target, contentType: type, authorization: authorization, body: Array(body.utf8),
            isBodyCut: isBodyCut, response: Array(response.utf8), responseType: responseType,
            location: location)
    }

    private static func shown(_ request: RecentRequest) throws -> WorldExchange {
        try #require(ReceivedRequests([request], knownFrom: []).exchanges.first)
    }

    @Test func `every call of OAuth and every page is described by a section, and no other path is`() {
        let known = Set(ServiceStep.known.map { "\($0.method) \($0.route)" })
        #expect(known.count == ServiceStep.known.count)
        let calls = Set(Endpoint.all.map { "\($0.method.allowed.prefix { $0 != "," }) \($0.path)" })
        #expect(known.subtracting(calls) == [])
        let described = calls.filter { call in
            ["/oauth/", "/.well-known/", "/account/", "/v1/web/"].contains { call.contains(" \($0)") }
        }
        #expect(described.subtracting(known) == [])
        let grantTypes = ServiceStep.known.first { $0.field == "grant_type" }?.variants.map(\.word) ?? []
        #expect(Set(grantTypes) == Set(GrantType.all.map(\.name)))
    }

    @Test(arguments: [
        ("grant_type=authorization_code&code=c", "Exchange the code", "RFC 6749 §4.1.3"),
        ("grant_type=refresh_token", "Refresh the tokens", "RFC 6749 §6"),
        (
            "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Adevice_code",
            "Ask for the device's tokens", "RFC 8628 §3.4"
        ),
        ("grant_type=password", "Ask for tokens", "RFC 6749 §3.2"),
        ("%%%", "Ask for tokens", "RFC 6749 §3.2"),
    ])
    func `a token request has the section of its grant type`(body: String, title: String, standard: String)
        throws
    {
        let shown = try Self.shown(Self.request(exchange: Self.exchange("/oauth/token", body)))
        #expect((shown.exchange.title, shown.step.standard) == (title, standard))
    }

    @Test(
        arguments: [
            ("POST", "/oauth/token", "google", ExchangeStep.Party.google),
            ("POST", "/oauth/token", "siwa-web", .browser), ("POST", "/oauth/token", nil, .browser),
            // The browser of the person, although the request names Google's client.
            ("GET", "/oauth/authorize", "google", .browser), ("POST", "/v1/sign-ins", nil, .browser),
            ("POST", "/v1/apple/notifications", nil, .apple),
            ("POST", "/v1/google/security-events", nil, .google),
        ] as [(String, String, String?, ExchangeStep.Party)])
    func `the sender is who sends such a request`(
        method: String, route: String, client: String?, sender: ExchangeStep.Party
    ) throws {
        let shown = try Self.shown(Self.request(method, route, client: client))
        #expect((shown.step.from, shown.step.to) == (sender, .siwa))
    }

    @Test func `times are of the beginning, and the number leads to the page of the request`() throws {
        let shown = try Self.shown(Self.request(number: 12))
        #expect((shown.id, shown.requestNumber) == ("siwa-12", 12))
        #expect((shown.exchange.at, shown.begin, shown.end) == (1_767_225_600_121, 7_000_000, 9_500_000))
    }

    @Test func `secrets are shortened, and tokens are decoded`() throws {
        let token = try TokenMint.shared.sign(TokenMint.identityClaims())
        let basic = "Basic \(Base64.encode(Array("siwa-web:a secret that is long enough".utf8)))"
        let shown = try Self.shown(
            Self.request(
                exchange: Self.exchange(
                    "/oauth/token?x=1",
                    "grant_type=authorization_code&code=\(String(repeating: "c", count: 43))",
                    authorization: basic, response: #"{"id_token":"\#(token)"}"#,
                    location: "https://app.example/?code=\(String(repeating: "d", count: 43))")))
        #expect(shown.exchange.request.contains("POST /oauth/token\nx = 1"))
        #expect(shown.exchange.request.contains("code = cccccccccccc… (43 bytes)"))
        #expect(
            !shown.exchange.request.contains(basic)
                && shown.exchange.request.contains("Authorization: Basic c2l3YS13ZWI6…"))
        #expect(shown.exchange.response.contains("code = dddddddddddd… (43 bytes)"))
        #expect(!shown.exchange.response.contains(token) && shown.exchange.response.contains("\"iss\""))
    }

    @Test func `a page, a long body, and what is not kept are named instead of shown`() throws {
        let page = try Self.shown(
            Self.request(
                "GET", "/oauth/authorize",
                exchange: Self.exchange(
                    "/oauth/authorize", response: "<!doctype html>", responseType: "text/html")))
        #expect(page.exchange.response == "200\ntext/html")
        let long = try Self.shown(
            Self.request(exchange: Self.exchange("/oauth/token", "code=secret", isBodyCut: true)))
        #expect(
            long.exchange.request.contains("of more than 16384 bytes")
                && !long.exchange.request.contains("secret"))
        let gone = try Self.shown(Self.request())
        #expect(
            gone.exchange.request == "POST /oauth/token\n\nThe rest is not kept any more."
                && gone.exchange.response == "200")
    }

    @Test func `a request that a fake has sent is the exchange of the fake`() {
        let requests = ["r3", "r2", "r1"].enumerated().map {
            Self.request(number: 3 - $0.offset, id: $0.element)
        }
        let received = ReceivedRequests(requests, knownFrom: ["r2"])
        #expect(received.exchanges.map(\.id) == ["siwa-1", "siwa-3"])
        #expect(received.numbers == ["r1": 1, "r2": 2, "r3": 3])
    }

    @Test func `requests that repeat push out no others, and each kind has its bound`() {
        var requests: [RecentRequest] = []
        for number in (1...600).reversed() {
            requests.append(
                number <= 60
                    ? Self.request("GET", "/oauth/authorize", number: number)
                    : Self.request("GET", "/readyz", number: number))
        }
        let exchanges = ReceivedRequests(requests, knownFrom: []).exchanges
        #expect(exchanges.filter { !$0.step.isRoutine }.compactMap(\.requestNumber) == Array(11...60))
        #expect(exchanges.filter(\.step.isRoutine).compactMap(\.requestNumber) == Array(551...600))
    }

    @Test func `a device that waits is hidden, and the answer that it waits for is not`() throws {
        let body = "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Adevice_code&device_code=x"
        let waiting = Self.request(
            code: "authorization_pending", exchange: Self.exchange("/oauth/token", body))
        #expect(try Self.shown(waiting).step.isRoutine)
        #expect(try !Self.shown(Self.request(exchange: Self.exchange("/oauth/token", body))).step.isRoutine)
    }
}
