import AppleAccounts
import AuthorizationServer
import EventDelivery
import JOSE
import OAuthSamples
import StorageConformance
import StrictJSON
import TestSupport
import Testing

/// The parts of OpenID Shared Signals Framework 1.0 that the service has.
@Suite(.eventStreams) struct EventStreamTests {
    let service = RunningService.current

    private static func call(
        _ service: RunningService, _ method: String, _ target: String, _ body: String? = nil
    ) async throws -> ProbeResponse {
        try await service.call(
            method, target, body: body, secret: nil, fields: ["Authorization": EventSample.shop])
    }

    @Test func `the metadata names the endpoints`() async throws {
        let response = try await service.get("/.well-known/ssf-configuration", secret: nil).expecting(200)
        let json = try #require(response.json)
        #expect(json["spec_version"]?.string == "1_0")
        #expect(json["issuer"]?.string == OAuthSample.issuer)
        #expect(json["jwks_uri"]?.string == "\(OAuthSample.issuer)/oauth/jwks.json")
        #expect(json["delivery_methods_supported"]?.array == ["urn:ietf:rfc:8935", "urn:ietf:rfc:8936"])
        #expect(json["configuration_endpoint"]?.string == "\(OAuthSample.issuer)/oauth/events/stream")
        #expect(json["verification_endpoint"]?.string == "\(OAuthSample.issuer)/oauth/events/verify")
        #expect(json["default_subjects"]?.string == "ALL")
    }

    @Test(.service { $0.hasOAuth = true })
    func `without streams there is no metadata, and no endpoint`() async throws {
        for (method, target) in [
            ("GET", "/.well-known/ssf-configuration"), ("GET", "/oauth/events/stream"),
            ("POST", "/oauth/events/poll"), ("POST", "/oauth/events/verify"),
            ("POST", "/v1/event-receivers/billing/poll"),
        ] {
            let body = method == "POST" ? "{}" : nil
            #expect(try await service.call(method, target, body: body).status == 404)
        }
    }

    @Test func `a client sees its own stream`() async throws {
        let one = try await Self.call(service, "GET", "/oauth/events/stream?stream_id=client%3Ashop")
        #expect(one.status == 200)
        let json = try #require(one.json)
        expect(json, has: ["stream_id": "client:shop", "iss": .string(OAuthSample.issuer), "aud": "shop"])
        #expect(json["delivery"]?["method"]?.string == "urn:ietf:rfc:8936")
        #expect(json["delivery"]?["endpoint_url"]?.string == "\(OAuthSample.issuer)/oauth/events/poll")
        #expect(json["min_verification_interval"]?.integer == 60)
        let types = ClientEvents.kinds.map { JSONValue.string($0.securityEventType.uri) }
        #expect(json["events_supported"]?.array == types)
        #expect(json["events_delivered"]?.array == types)
        #expect(try await Self.call(service, "GET", "/oauth/events/stream").json?.array == [json])
        for other in ["client%3Adesktop", "billing", "x", ""] {
            let refused = try await Self.call(service, "GET", "/oauth/events/stream?stream_id=\(other)")
            #expect([400, 404].contains(refused.status))
        }
    }

    @Test func `a verification comes on the stream, with its state`() async throws {
        let asked = try await Self.call(
            service, "POST", "/oauth/events/verify",
            #"{"stream_id":"client:shop","state":"VGhpcyBpcyBhIHRlc3Q","x":1}"#)
        #expect(asked.status == 204)
        let poll = try await Self.call(service, "POST", "/oauth/events/poll", #"{"returnImmediately":true}"#)
        let token = try #require(poll.json?["sets"]?.object?.members.first?.value.string)
        let key = try EventSample.key.get()
        let claims = try SecurityEventVerifier(issuer: OAuthSample.issuer, audiences: ["shop"])
            .verify(token, at: RunningService.now / 1000) { _ in key.verificationKey }
        #expect(claims.events.members.map(\.name) == [SecurityEventType.verification.uri])
        #expect(claims.events.members.first?.value["state"]?.string == "VGhpcyBpcyBhIHRlc3Q")
    }

    @Test func `a stream is verified once a minute`() async throws {
        let body = #"{"stream_id":"client:shop"}"#
        #expect(try await Self.call(service, "POST", "/oauth/events/verify", body).status == 204)
        let soon = try await Self.call(service, "POST", "/oauth/events/verify", body).expecting(429)
        #expect(soon["retry-after"] == "60")
        service.clock.advance(by: .seconds(60))
        #expect(try await Self.call(service, "POST", "/oauth/events/verify", body).status == 204)
    }

    @Test(arguments: [
        (#"{}"#, 400), (#"{"stream_id":"client:desktop"}"#, 404), (#"{"stream_id":"billing"}"#, 404),
        (#"{"stream_id":7}"#, 400), ("[]", 400),
        (#"{"stream_id":"client:shop","state":"\#(String(repeating: "a", count: 1025))"}"#, 400),
    ])
    func `a verification of another stream is refused`(body: String, status: Int) async throws {
        #expect(try await Self.call(service, "POST", "/oauth/events/verify", body).status == status)
        #expect(try await service.memory.receivers().allSatisfy { $0.record.verification == nil })
    }

    @Test func `a client that is pushed to has no poll`() async throws {
        let store = ReferenceStore()
        try await store.addReceivers(EventSample.names, at: 0)
        var options = EventSample.options(store: store)
        options.events = { store, feed, now in
            EventStreams(
                polling: EventPolling(store: store, feed: feed, now: now, logger: .silent), keyed: [],
                clients: [
                    "shop": .init(
                        name: ReceiverName(of: "shop"), kinds: Set(ClientEvents.kinds),
                        delivery: .push(url: "https://shop.example.com/events"))
                ], store: store, now: now)
        }
        try await RunningService.with(options) { service in
            #expect(try await Self.call(service, "POST", "/oauth/events/poll", "{}").status == 404)
            let stream = try await Self.call(service, "GET", "/oauth/events/stream").json?.array?.first
            #expect(stream?["delivery"]?["endpoint_url"]?.string == "https://shop.example.com/events")
            let asked = try await Self.call(
                service, "POST", "/oauth/events/verify", #"{"stream_id":"client:shop"}"#)
            #expect(asked.status == 204)
        }
    }
}

/// Polls over HTTP (RFC 8936), by API keys and by OAuth clients.
@Suite(.eventStreams) struct EventPollTests {
    let service = RunningService.current

    private static let billing = "/v1/event-receivers/billing/poll"
    private static let client = "/oauth/events/poll"
    private static let now = #"{"returnImmediately":true}"#

    private static func poll(
        _ service: RunningService, _ body: String = now, at target: String = billing,
        secret: String? = RunningService.secret
    ) async throws -> ProbeResponse { try await service.post(target, body: body, secret: secret) }

    private static func clientPoll(
        _ service: RunningService, _ body: String = now, authorization: String = EventSample.shop
    ) async throws -> ProbeResponse {
        try await service.post(client, body: body, secret: nil, fields: ["Authorization": authorization])
    }

    private static func ids(_ response: ProbeResponse) -> [String] {
        response.json?["sets"]?.object?.members.map(\.name) ?? []
    }

    @Test func `a receiver polls, takes what it got, and gets what follows`() async throws {
        _ = try await service.signIn()
        let first = try await Self.poll(service).expecting(200)
        expect(first.fields, has: ["content-type": "application/json", "cache-control": "no-store"])
        let events = try await service.memory.allEvents().map(\.id.rawValue)
        #expect(Self.ids(first) == [events[0]])
        #expect(first.json?["moreAvailable"]?.bool == false)
        let token = try #require(first.json?["sets"]?[events[0]]?.string)
        #expect(token.split(separator: ".").count == 3)
        let second = try await Self.poll(
            service, #"{"ack":["\#(events[0])","unknown"],"returnImmediately":true}"#)
        #expect(Self.ids(second) == [events[1]])
        let third = try await Self.poll(
            service, #"{"setErrs":{"\#(events[1])":{"err":"invalid_key","description":"x"}},"maxEvents":0}"#)
        #expect(third.text == #"{"sets":{},"moreAvailable":false}"#)
        #expect(try await service.memory.receiver("billing")?.retries.isEmpty == true)
        let metrics = try await service.get("/metrics").text
        #expect(metrics.contains("siwa_event_polled_tokens_total{result=\"handed_out\"} 2\n"))
        #expect(metrics.contains("siwa_event_polled_tokens_total{result=\"taken\"} 1\n"))
        #expect(metrics.contains("siwa_event_polled_tokens_total{result=\"refused\"} 1\n"))
        #expect(metrics.contains("siwa_event_polls 0\n"))
        // Neither what was refused nor why.
        #expect(!service.loggedText().contains("invalid_key"))
    }

    @Test func `a poll waits for the next event`() async throws {
        async let waiting = Self.poll(service, "{}")
        try await eventually { try await service.get("/metrics").text.contains("siwa_event_polls 1\n") }
        _ = try await service.signIn()
        let response = try await waiting
        let first = try await service.memory.allEvents()[0].id.rawValue
        #expect(Self.ids(response) == [first])
    }

    @Test func `members that the RFC does not define are ignored, and more than the bound is cut`()
        async throws
    {
        for body in [
            #"{"returnImmediately":true,"extra":{"a":[1]},"maxEvents":9000000000}"#,
            #"{"returnImmediately":true,"maxEvents":10.0}"#, #"{"returnImmediately":true,"maxEvents":1e400}"#,
            #"{"returnImmediately":true,"ack":[],"setErrs":{}}"#,
            #"{"returnImmediately":true,"ack":null,"maxEvents":null}"#,
        ] { #expect(try await Self.poll(service, body).status == 200) }
    }

    static let malformed: [(String, String)] = [
        (#"{"maxEvents":-1}"#, "member_malformed"), (#"{"maxEvents":"1"}"#, "member_malformed"),
        (#"{"maxEvents":1.5}"#, "member_malformed"), (#"{"ack":"a"}"#, "member_malformed"),
        (#"{"ack":[1]}"#, "member_malformed"), (#"{"setErrs":[]}"#, "member_malformed"),
        (#"{"setErrs":{"a":{}}}"#, "member_malformed"), (#"{"setErrs":{"a":"x"}}"#, "member_malformed"),
        (#"{"returnImmediately":"yes"}"#, "member_malformed"), ("[]", "body_not_json"),
        (#"{"ack":[],"ack":[]}"#, "body_not_json"), ("", "body_not_json"),
        (#"{"ack":[\#(Array(repeating: #""a""#, count: 257).joined(separator: ","))]}"#, "member_malformed"),
        (
            #"{"setErrs":{\#((0..<257).map { #""\#($0)":{"err":"x"}"# }.joined(separator: ","))}}"#,
            "member_malformed"
        ),
    ]

    @Test(arguments: malformed)
    func `a malformed poll is refused`(body: String, code: String) async throws {
        #expect(try await Self.poll(service, body).outcome == "400 \(code)")
        let client = try await Self.clientPoll(service, body).expecting(400)
        #expect(client.json?["error"]?.string == "invalid_request")
    }

    @Test(arguments: ["other", "client:shop", "client:desktop", "%00", "a/b"])
    func `an API key polls its own receiver and no other`(name: String) async throws {
        let other = try await Self.poll(service, at: "/v1/event-receivers/\(name)/poll")
        #expect([400, 404].contains(other.status))
        let limited = try await Self.poll(service, secret: RunningService.limitedSecret)
        #expect(limited.outcome == "404 receiver_not_found")
        #expect(try await Self.poll(service, secret: nil).status == 401)
        let basic = try await service.post(
            Self.billing, body: Self.now, secret: nil, fields: ["Authorization": EventSample.shop])
        #expect(basic.status == 401)
    }

    @Test func `a paused receiver gets nothing, and learns why`() async throws {
        let record = try #require(try await service.memory.receiver("billing")).record
        _ = try await service.memory.settle(
            record, ReceiverProgress(cursor: 0, notBefore: 0, pausedAt: 5, countsAsClaim: true))
        #expect(try await Self.poll(service).outcome == "409 receiver_paused")
    }

    @Test func `a client polls its stream, which has nothing of users who granted it nothing`() async throws {
        let linked = try await OAuthEndpointTests.link(service)
        let id = try #require(AccountID(linked.accountID))
        let account = try #require(try await service.memory.account(id))
        try await service.memory.change(DisableCommand.sample(account))
        #expect(try await Self.ids(Self.clientPoll(service)).isEmpty)
        // The grant of Google is no grant of the shop, also after the erasure.
        try await service.memory.erase(.sample(account: account))
        #expect(try await Self.ids(Self.clientPoll(service)).isEmpty)
    }

    static let strangers: [(String, Int)] = [
        (EventSample.basic("shop", "wrong"), 401), (EventSample.basic("shop", ""), 401),
        (EventSample.basic("nobody", "x"), 401),
        // Has no secret.
        (EventSample.basic("desktop", ""), 401), (EventSample.basic("desktop", "x"), 401),
        // Has no stream.
        (EventSample.basic("google", OAuthSample.googleSecret), 404),
        ("Bearer \(RunningService.secret)", 401), ("Basic !", 401),
    ]

    @Test(arguments: strangers) func `nobody but a client with a secret and a stream reads a stream`(
        authorization: String, status: Int
    ) async throws {
        let fields = ["Authorization": authorization]
        let poll = try await Self.clientPoll(service, authorization: authorization)
        let show = try await service.get("/oauth/events/stream", secret: nil, fields: fields)
        let verify = try await service.post(
            "/oauth/events/verify", body: #"{"stream_id":"client:shop"}"#, secret: nil, fields: fields)
        #expect([poll, show, verify].map(\.status) == [status, status, status])
    }

    @Test func `a client without credentials is asked for them`() async throws {
        let response = try await service.post(Self.client, body: Self.now, secret: nil).expecting(401)
        #expect(response["www-authenticate"]?.hasPrefix("Basic ") == true)
        #expect(response.json?["error"]?.string == "invalid_client")
    }
}
