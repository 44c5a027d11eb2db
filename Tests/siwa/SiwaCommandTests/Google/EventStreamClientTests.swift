import AppleAccounts
import AppleIDClient
import AsyncHTTPClient
import JOSE
import NIOCore
import ScriptedHTTP
import StrictJSON
import TestSupport
import Testing

@testable import Composition

/// Calls of Google's RISC API over real sockets.
@Suite(.timeLimit(.hung)) struct EventStreamClientTests {
    private static let stream = EventStream(
        url: "https://signin.example.com/v1/google/security-events", events: EventStream.wantedEvents)

    private func with<Result>(
        _ answer: ScriptedServer.Response, timeLimit: TimeAmount = .seconds(50),
        _ body: (EventStreamClient) async throws -> Result
    ) async throws -> (result: Swift.Result<Result, any Error>, requests: [String]) {
        let server = try await ScriptedServer { _ in answer }
        let http = HTTPClient(
            eventLoopGroupProvider: .singleton,
            configuration: .apple(
                AppleTimeLimits(connect: .seconds(50), read: .seconds(50), total: .seconds(50))))
        let endpoints = try #require(GoogleEndpoints(baseURL: server.baseURL))
        let client = EventStreamClient(
            client: http, endpoints: endpoints, key: try ServiceAccountKeyTests.key(), timeLimit: timeLimit,
            secondsSince1970: { 1_800_000_000 })
        let result: Swift.Result<Result, any Error>
        do { result = .success(try await body(client)) } catch { result = .failure(error) }
        try await http.shutdown()
        let requests = server.requests
        try await server.close()
        return (result, requests)
    }

    private func code(_ result: Swift.Result<some Any, any Error>) -> EventStreamError.Code? {
        guard case .failure(let error) = result else { return nil }
        return (error as? EventStreamError)?.code
    }

    @Test func `each call has its method, its path and the token`() async throws {
        let calls: [(String, (EventStreamClient) async throws -> Void)] = [
            ("get /v1beta/stream ", { _ = try await $0.stream() }),
            ("get /v1beta/stream/status ", { _ = try? await $0.status() }),
            ("post /v1beta/stream:update ", { try await $0.update(Self.stream) }),
            ("post /v1beta/stream/status:update ", { try await $0.setStatus(isEnabled: false) }),
            ("post /v1beta/stream:verify ", { try await $0.verify("s-1") }),
        ]
        for (begin, call) in calls {
            let (result, requests) = try await with(.json(#"{"delivery":{"url":"https://x"}}"#)) {
                try await call($0)
            }
            #expect(code(result) == nil, "\(begin)")
            let request = try #require(requests.first)
            #expect(request.lowercased().hasPrefix(begin))
            #expect(request.contains("Bearer ey"))
            #expect(
                request.lowercased().contains("content-type: application/json") == begin.hasPrefix("post"))
            #expect(requests.count == 1)
        }
    }

    @Test func `the body of a registration names the URL, the events and the way`() {
        let json = Self.stream.json
        #expect(json["delivery"]?["url"]?.string == Self.stream.url)
        let way = json["delivery"]?["delivery_method"]?.string
        #expect(way == "https://schemas.openid.net/secevent/risc/delivery-method/push")
        #expect(json["events_requested"]?.array?.count == 7)
        #expect(EventStream(.object(json)) == Self.stream)
    }

    @Test(
        arguments: [
            (400, .requestRefused), (401, .notAuthenticated), (403, .forbidden), (404, .streamMissing),
            (429, .throttled), (500, .failed), (503, .failed), (302, .failed), (202, .failed),
        ] as [(Int, EventStreamError.Code)])
    func `each status of Google has its advice, and no call is made twice`(
        status: Int, expected: EventStreamError.Code
    ) async throws {
        let answer = ScriptedServer.Response.json(
            #"{"error":{"code":\#(status),"message":"words of Google\u001b[31m","status":"X"}}"#,
            status: status, headers: status == 302 ? "Location: /elsewhere\r\n" : "")
        let (result, requests) = try await with(answer) { try await $0.update(Self.stream) }
        #expect(code(result) == expected)
        #expect(requests.count == 1)
        guard case .failure(let error) = result else { return }
        let text = "\(error)"
        #expect(text.contains("words of Google?[31m") && text.contains("\(status)"), "\(text)")
        #expect(text.contains("\n"))
        #expect(!text.contains("eyJ"), "\(text)")
    }

    @Test func `a project without the API is told from a missing role`() async throws {
        let answer = ScriptedServer.Response.json(
            #"{"error":{"code":403,"message":"m","details":[{"reason":"SERVICE_DISABLED"}]}}"#, status: 403)
        let (result, _) = try await with(answer) { try await $0.stream() }
        #expect(code(result) == .apiDisabled)
    }

    @Test func `without a stream there is none`() async throws {
        let (result, _) = try await with(.json(#"{"error":{"code":404}}"#, status: 404)) {
            try await $0.stream()
        }
        #expect(try result.get() == nil)
    }

    @Test(arguments: [
        ScriptedServer.Response.json("<html>"), .json("[]"), .json("{}"), .json(#"{"delivery":{"url":7}}"#),
        .json("{\"a\":\"" + String(repeating: "x", count: 100_000) + "\"}"),
    ])
    func `a response that is not Google's is refused`(answer: ScriptedServer.Response) async throws {
        let (result, _) = try await with(answer) { try await $0.stream() }
        #expect(code(result) == .responseMalformed)
    }

    @Test(arguments: [
        ScriptedServer.Response.nothing, .sendAndClose(""), .sendAndClose("HTTP/1.1 2"),
        .send("garbage\r\n\r\n"),
    ])
    func `no answer in time is a failure`(answer: ScriptedServer.Response) async throws {
        let (result, _) = try await with(answer, timeLimit: .milliseconds(300)) { try await $0.stream() }
        #expect(code(result) == .unreachable)
    }

    // The registration, compared with the configuration

    @Test(
        arguments: [
            (nil, nil, .notRegistered),
            (
                EventStream(url: "https://other", events: EventStream.wantedEvents), .enabled,
                .otherURL("https://other")
            ),
            (stream, .disabled, .notEnabled(.disabled)), (stream, .other("x"), .notEnabled(.other("x"))),
            (
                EventStream(url: stream.url, events: Array(EventStream.wantedEvents.dropFirst())), .enabled,
                .eventsMissing([.sessionsRevoked])
            ),
            (EventStream(url: stream.url, events: EventStream.wantedEvents.dropLast()), .enabled, nil),
            (stream, .enabled, nil),
        ] as [(EventStream?, EventStream.Status?, EventRegistration.Fault?)])
    func `what is registered is compared with what this service wants`(
        stream: EventStream?, status: EventStream.Status?, fault: EventRegistration.Fault?
    ) {
        let registration = EventRegistration(
            account: "risc@x.invalid", expectedURL: Self.stream.url, stream: stream, status: status)
        #expect(registration.fault == fault)
        #expect((registration.faultText == nil) == (fault == nil))
        #expect(registration.json["as_configured"] == .bool(fault == nil))
    }
}
