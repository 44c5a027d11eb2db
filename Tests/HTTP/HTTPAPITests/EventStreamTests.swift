import AppleAccounts
import AuthorizationServer
import EventDelivery
import JOSE
import OAuthSamples
import SecurityEvents
import StorageConformance
import StrictJSON
import TestSupport
import Testing

/// The parts of OpenID Shared Signals Framework 1.0 that the service has.
@Suite struct EventStreamTests {
    private static func call(
        _ service: RunningService, _ method: String, _ target: String, _ body: String? = nil
    ) async throws -> ProbeResponse {
        try await service.call(
            method, target, body: body, secret: nil, fields: ["Authorization": EventSample.shop])
    }

    @Test func `the metadata names the endpoints`() async throws {
        try await EventSample.with { service, _ in
            let response = try await service.call("GET", "/.well-known/ssf-configuration", secret: nil)
            #expect(response.status == 200)
            let json = try #require(response.json)
            #expect(json["spec_version"]?.string == "1_0")
            #expect(json["issuer"]?.string == OAuthSample.issuer)
            #expect(json["jwks_uri"]?.string == "\(OAuthSample.issuer)/oauth/jwks.json")
            #expect(
                json["delivery_methods_supported"]?.array == [
                    .string("urn:ietf:rfc:8935"), .string("urn:ietf:rfc:8936"),
                ])
            #expect(
                json["configuration_endpoint"]?.string == "\(OAuthSample.issuer)/oauth/events/stream")
            #expect(json["verification_endpoint"]?.string == "\(OAuthSample.issuer)/oauth/events/verify")
            #expect(json["default_subjects"]?.string == "ALL")
        }
    }

    @Test func `without streams there is no metadata, and no endpoint`() async throws {
        try await OAuthEndpointTests.with { service in
            for (method, target) in [
                ("GET", "/.well-known/ssf-configuration"), ("GET", "/oauth/events/stream"),
                ("POST", "/oauth/events/poll"), ("POST", "/oauth/events/verify"),
                ("POST", "/v1/event-receivers/billing/poll"),
            ] {
                let body = method == "POST" ? "{}" : nil
                let response = try await service.call(method, target, body: body)
                #expect(response.status == 404)
            }
        }
    }

    @Test func `a client sees its own stream`() async throws {
        try await EventSample.with { service, _ in
            let one = try await Self.call(service, "GET", "/oauth/events/stream?stream_id=client%3Ashop")
            #expect(one.status == 200)
            let json = try #require(one.json)
            #expect(json["stream_id"]?.string == "client:shop")
            #expect(json["iss"]?.string == OAuthSample.issuer)
            #expect(json["aud"]?.string == "shop")
            #expect(json["delivery"]?["method"]?.string == "urn:ietf:rfc:8936")
            #expect(
                json["delivery"]?["endpoint_url"]?.string == "\(OAuthSample.issuer)/oauth/events/poll")
            #expect(json["min_verification_interval"]?.integer == 60)
            let types = ClientEvents.kinds.map { JSONValue.string($0.securityEventType.uri) }
            #expect(json["events_supported"]?.array == types)
            #expect(json["events_delivered"]?.array == types)
            let all = try await Self.call(service, "GET", "/oauth/events/stream")
            #expect(all.json?.array == [json])
            for other in ["client%3Adesktop", "billing", "x", ""] {
                let refused = try await Self.call(service, "GET", "/oauth/events/stream?stream_id=\(other)")
                #expect([400, 404].contains(refused.status))
            }
        }
    }

    @Test func `a verification comes on the stream, with its state`() async throws {
        try await EventSample.with { service, _ in
            let asked = try await Self.call(
                service, "POST", "/oauth/events/verify",
                #"{"stream_id":"client:shop","state":"VGhpcyBpcyBhIHRlc3Q","x":1}"#)
            #expect(asked.status == 204)
            let poll = try await Self.call(
                service, "POST", "/oauth/events/poll", #"{"returnImmediately":true}"#)
            let token = try #require(poll.json?["sets"]?.object?.members.first?.value.string)
            let key = try EventSample.key.get()
            let claims = try SecurityEventVerifier(issuer: OAuthSample.issuer, audiences: ["shop"])
                .verify(token, at: RunningService.now / 1000) { _ in key.verificationKey }
            #expect(claims.events.members.map(\.name) == [SecurityEventType.verification.uri])
            #expect(claims.events.members.first?.value["state"]?.string == "VGhpcyBpcyBhIHRlc3Q")
        }
    }

    @Test func `a stream is verified once a minute`() async throws {
        try await EventSample.with { service, _ in
            let body = #"{"stream_id":"client:shop"}"#
            #expect(try await Self.call(service, "POST", "/oauth/events/verify", body).status == 204)
            let soon = try await Self.call(service, "POST", "/oauth/events/verify", body)
            #expect(soon.status == 429)
            #expect(soon["retry-after"] == "60")
            service.clock.advance(by: .seconds(60))
            #expect(try await Self.call(service, "POST", "/oauth/events/verify", body).status == 204)
        }
    }

    @Test(arguments: [
        (#"{}"#, 400), (#"{"stream_id":"client:desktop"}"#, 404), (#"{"stream_id":"billing"}"#, 404),
        (#"{"stream_id":7}"#, 400), ("[]", 400),
        (#"{"stream_id":"client:shop","state":"\#(String(repeating: "a", count: 1025))"}"#, 400),
    ])
    func `a verification of another stream is refused`(body: String, status: Int) async throws {
        try await EventSample.with { service, store in
            let response = try await Self.call(service, "POST", "/oauth/events/verify", body)
            #expect(response.status == status)
            #expect(try await store.receivers().allSatisfy { $0.record.verification == nil })
        }
    }

    @Test func `a client that is pushed to has no poll`() async throws {
        try await EventSample.with({ options in
            options.events = { store, feed, now in
                EventStreams(
                    polling: EventPolling(store: store, feed: feed, now: now, logger: .silent), keyed: [],
                    clients: [
                        "shop": .init(
                            name: ReceiverName(of: "shop"), kinds: Set(ClientEvents.kinds),
                            delivery: .push(url: "https://shop.example.com/events"))
                    ], store: store, now: now)
            }
        }) { service, _ in
            let poll = try await Self.call(service, "POST", "/oauth/events/poll", "{}")
            #expect(poll.status == 404)
            let stream = try await Self.call(service, "GET", "/oauth/events/stream").json?.array?.first
            #expect(stream?["delivery"]?["endpoint_url"]?.string == "https://shop.example.com/events")
            let asked = try await Self.call(
                service, "POST", "/oauth/events/verify", #"{"stream_id":"client:shop"}"#)
            #expect(asked.status == 204)
        }
    }
}
