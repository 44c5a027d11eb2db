import AsyncHTTPClient
import EmulatorServer
import NIOCore
import NIOHTTP1
import NIOSSL
import ReceiverEmulator
import StrictJSON
import Synchronization
import TestSupport
import Testing

@Suite(.receivers(), .timeLimit(.hung)) struct ReceiverFaultTests {
    let receiver = ReceiverUnderTest.current

    private static let now = ReceiverUnderTest.now

    @Test func `a receiver that is down closes connections, and the other receiver goes on`() async throws {
        _ = try await receiver.control(.PUT, "faults/webhook", #"{"fault":"down"}"#)
        await #expect(throws: (any Error).self) { try await receiver.postWebhook() }
        #expect(receiver.state.messages.isEmpty)
        #expect(try await receiver.pushGood().status == 202)
        let overview = try await receiver.control(.GET, "").json
        #expect(overview?["receivers"]?.array?.map { $0["dropped"]?.integer } == [1, 0])
        _ = try await receiver.control(.DELETE, "faults/webhook")
        #expect(try await receiver.postWebhook().status == 204)
    }

    @Test func `a slow receiver answers after its delay`() async throws {
        _ = try await receiver.control(.PUT, "faults/webhook", #"{"fault":"slow","seconds":5}"#)
        async let response = receiver.postWebhook()
        try await receiver.clock.sleeper(until: Self.now * 1000 + 5000)
        // Seen before it is answered.
        #expect(receiver.state.messages.map(\.status) == [nil])
        receiver.clock.advance(by: .seconds(5))
        #expect(try await response.status == 204)
        #expect(receiver.state.messages.map(\.status) == [204])
    }

    @Test func `a receiver that hangs never answers, and closes the connection at last`() async throws {
        _ = try await receiver.control(.PUT, "faults/push", #"{"fault":"hang"}"#)
        let response = Task { try await receiver.pushGood() }
        try await receiver.clock.sleeper(until: Self.now * 1000 + 30_000)
        receiver.clock.advance(by: .seconds(30))
        await #expect(throws: (any Error).self) { try await response.value }
        #expect(receiver.state.messages.map(\.status) == [nil])
        // The event was not taken, so its repetition is no duplicate.
        _ = try await receiver.control(.DELETE, "faults")
        #expect(try await receiver.pushGood().status == 202)
        #expect(receiver.state.messages.last?.isDuplicate == false)
        #expect(receiver.state.messages.last?.arrival == 2)
    }

    @Test(arguments: [(#"{"fault":"error"}"#, 500), (#"{"fault":"error","status":429}"#, 429)])
    func `a receiver that fails answers with a status, also to good messages`(fault: String, status: Int)
        async throws
    {
        _ = try await receiver.control(.PUT, "faults/webhook", fault)
        #expect(try await receiver.postWebhook().status == status)
        let message = try #require(receiver.state.messages.first)
        #expect(message.refusal == nil && message.fault == .error && message.status == status)
    }

    @Test func `a redirect leads to a path that counts who follows`() async throws {
        _ = try await receiver.control(.PUT, "faults/webhook", #"{"fault":"redirect"}"#)
        let response = try await receiver.postWebhook()
        #expect(response.status == 307)
        let target = try #require(response.headers.first(name: "location"))
        #expect(try await receiver.control(.GET, "").json?["redirects_followed"]?.integer == 0)
        _ = try await receiver.send(.POST, target, body: "{}")
        #expect(try await receiver.control(.GET, "").json?["redirects_followed"]?.integer == 1)
    }

    @Test func `a huge answer ends when the client stops reading`() async throws {
        _ = try await receiver.control(.PUT, "faults/webhook", #"{"fault":"huge_body","times":1}"#)
        await #expect(throws: (any Error).self) { try await receiver.postWebhook() }
        #expect(receiver.state.messages.map(\.status) == [200])
        #expect(try await receiver.postWebhook().status == 204)
    }

    @Test(.receivers(hasTLS: true))
    func `new connections get the wrong certificate, until the receiver recovers`() async throws {
        func push() async throws -> Int {
            var request = HTTPClientRequest(url: "https://127.0.0.1:\(receiver.securePort)/push")
            request.method = .POST
            request.headers.add(name: "content-type", value: "application/secevent+jwt")
            request.body = .bytes(Array(try receiver.token().utf8))
            return try await ReceiverUnderTest.execute(request, trusting: receiver.authority).status
        }
        #expect(try await push() == 202)
        _ = try await receiver.control(.PUT, "faults/push", #"{"fault":"wrong_certificate"}"#)
        await #expect(throws: NIOSSLError.self) { try await push() }
        _ = try await receiver.control(.DELETE, "faults/push")
        #expect(try await push() == 202)
        // The webhook has no TLS.
        let refused = try await receiver.control(.PUT, "faults/webhook", #"{"fault":"wrong_certificate"}"#)
        #expect(refused.json?["code"]?.string == "fault_ineffective")
    }

    @Test func `a recovery asks the service for what waits`() async throws {
        let asked = Resumed()
        var sender = EventSender()
        sender.resume = { asked.add($0) }
        receiver.state.connect(to: sender, urls: [.webhook: "http://127.0.0.1:\(receiver.port)/webhook"])
        _ = try await receiver.submit(
            "/faults", [("receiver", "webhook"), ("fault", "error"), ("action", "break")])
        _ = try await receiver.submit("/faults", [("receiver", "webhook"), ("action", "recover")])
        _ = try await receiver.control(.DELETE, "faults/push")
        #expect(asked.names == ["webhook", "push"])
    }

    @Test(arguments: [
        ("faults/webhook", #"{"fault":"tired"}"#, "member_malformed"),
        ("faults/webhook", "{}", "member_malformed"),
        ("faults/webhook", #"{"fault":"slow","seconds":61}"#, "member_malformed"),
        ("faults/webhook", #"{"fault":"slow","second":1}"#, "member_unknown"),
        ("faults/webhook", #"{"fault":"error","status":200}"#, "member_malformed"),
        ("faults/webhook", "[]", "body_malformed"),
        ("faults/mail", #"{"fault":"down"}"#, "receiver_not_found"),
    ])
    func `control calls are read strictly`(path: String, body: String, code: String) async throws {
        #expect(try await receiver.control(.PUT, path, body).json?["code"]?.string == code)
        #expect(try await receiver.control(.GET, "faults").text == "{}\n")
    }
}

private final class Resumed: Sendable {
    private let state = Mutex<[String]>([])

    var names: [String] { state.withLock { $0 } }

    func add(_ name: String) { state.withLock { $0.append(name) } }
}
