import AppleEmulator
import EmulatorServer
import HTTPTypes
import Hummingbird
import NIOCore
import NIOHTTP1
import ScriptedHTTP
import StrictJSON
import Synchronization
import TestSupport
import Testing

@Suite(.apple()) struct DeliveryTests {
    let apple = EmulatorUnderTest.current
    private var receiver: ReceivingServer { TestScope.current }

    @Test(.appleAndReceiver(isConfigured: false))
    func `posts the payload as Apple does and returns the response`() async throws {
        let response = try await apple.post("/emulator/notifications", #"{"url":"\#(receiver.url)"}"#).json
        #expect(response["delivery"]?["url"] == .string(receiver.url))
        #expect(response["delivery"]?["status"] == 200)
        #expect(response["delivery"]?["body"] == "noted")
        let payload = try #require(response["payload"]?.string)
        #expect(receiver.bodies == [#"{"payload":"\#(payload)"}"#])
        #expect(try await apple.isValid(ReadToken(payload)))
        #expect(try await apple.counter("deliveries") == 1)
        #expect(try await apple.counter("deliveries_refused") == 0)
    }

    @Test(.appleAndReceiver(answering: .unauthorized))
    func `posts to the configured URL and returns the status as text`() async throws {
        #expect(try await apple.post("/emulator/notifications?format=text").text == "401")
        #expect(receiver.bodies.count == 1)
        #expect(try await apple.counter("deliveries_refused") == 1)
    }

    @Test(.appleAndReceiver(isConfigured: false))
    func `sets and removes the URL at run time`() async throws {
        let body = #"{"url":"\#(receiver.url)"}"#
        let set = try await apple.send(.PUT, "/emulator/notification-url", body: body)
        #expect(try set.json["notification_url"] == .string(receiver.url))
        #expect(try await apple.post("/emulator/notifications?format=text").text == "200")
        _ = try await apple.send(.DELETE, "/emulator/notification-url")
        #expect(try await apple.post("/emulator/notifications").json["delivery"] == nil)
        try apple.emulator.state.setNotificationURL(receiver.url)
        #expect(try await apple.post("/emulator/notifications?format=text").text == "200")
        #expect(receiver.bodies.count == 2)
    }

    @Test func `a reset restores the configured URL`() async throws {
        try apple.emulator.state.setNotificationURL("http://siwa.example:8080/notifications")
        // Control requests may use the operator's host, too.
        for url in ["http://127.0.0.1:1/", "http://siwa.example:8080/elsewhere"] {
            let set = try await apple.send(.PUT, "/emulator/notification-url", body: #"{"url":"\#(url)"}"#)
            #expect(try set.json["notification_url"] == .string(url))
        }
        let reset = try await apple.post("/emulator/reset").json
        #expect(reset["notification_url"] == "http://siwa.example:8080/notifications")
    }

    @Test(.appleAndReceiver())
    func `only mints when deliver is false`() async throws {
        let response = try await apple.post("/emulator/notifications", #"{"deliver":false}"#).json
        #expect(response["delivery"] == nil)
        #expect(response["payload"]?.string != nil)
        #expect(receiver.bodies.isEmpty)
    }

    @Test(.appleAndReceiver())
    func `posts the same payload repeatedly`() async throws {
        for _ in 0..<2 {
            let response = try await apple.post("/emulator/deliveries?format=text", #"{"payload":"a.b.c"}"#)
            #expect(response.text == "200")
        }
        #expect(receiver.bodies == [#"{"payload":"a.b.c"}"#, #"{"payload":"a.b.c"}"#])
    }

    @Test(.appleAndReceiver(isConfigured: false))
    func `delivers in process`() async throws {
        await #expect(throws: EmulatorError(.notificationURLMissing)) {
            try await apple.emulator.deliver("a.b.c")
        }
        try apple.emulator.state.setNotificationURL(receiver.url)
        let notification = try await apple.emulator.state.mint(NotificationRecipe())
        let delivery = try await apple.emulator.deliver(notification.payload)
        #expect(delivery.outcome == .answered(status: 200, body: "noted"))
        #expect(receiver.bodies == [#"{"payload":"\#(notification.payload)"}"#])
        #expect(apple.emulator.state.counters.deliveries == 1)
    }

    @Test func `follows no redirect`() async throws {
        try await ReceivingServer.run { target in
            try await ReceivingServer.run(answering: .temporaryRedirect, headers: [.location: target.url]) {
                first in
                try await EmulatorUnderTest.run { apple in
                    let members = #"{"url":"\#(first.url)"}"#
                    let response = try await apple.post("/emulator/notifications?format=text", members)
                    #expect(response.text == "307")
                    #expect(first.bodies.count == 1)
                    #expect(target.bodies.isEmpty)
                }
            }
        }
    }

    @Test func `reports a refused connection`() async throws {
        // Port 1 is reserved, and nothing listens there.
        let members = #"{"url":"http://127.0.0.1:1/"}"#
        let response = try await apple.post("/emulator/notifications", members)
        #expect(response.status == 201)
        #expect(try response.json["delivery"]?["failure"] == "connection_failed")
        #expect(try await apple.counter("deliveries_refused") == 1)
    }

    @Test func `requires a URL when none is configured`() async throws {
        for path in ["/emulator/notifications", "/emulator/deliveries"] {
            let members = path.hasSuffix("deliveries") ? #"{"payload":"a"}"# : #"{"deliver":true}"#
            let response = try await apple.post(path, members)
            #expect(response.status == 409)
            #expect(response.code == "notification_url_missing")
        }
    }

    @Test(arguments: ["http://example.com/", "http://169.254.169.254/latest/", "file:///etc/passwd"])
    func `refuses to call other machines`(url: String) async throws {
        for path in ["/emulator/notifications", "/emulator/users/default/revoke-consent"] {
            let response = try await apple.post(path, #"{"url":"\#(url)"}"#)
            #expect(response.status == 422)
            #expect(response.code == "notification_url_refused")
        }
        let set = try await apple.send(.PUT, "/emulator/notification-url", body: #"{"url":"\#(url)"}"#)
        #expect(set.code == "notification_url_refused")
        #expect(try await apple.counter("deliveries") == 0)
        // A refused request has changed nothing.
        #expect(try await apple.counter("notifications") == 0)
    }
}

/// A server that receives notifications, responds as configured and stores the bodies.
final class ReceivingServer: Sendable {
    private static let path = "/v1/apple/notifications"

    private let response: HTTPResponse.Status
    private let times: Int
    private let headers: HTTPFields
    private let received = Mutex<[String]>([])
    let url: String

    var bodies: [String] { received.withLock { $0 } }

    private init(port: Int, response: HTTPResponse.Status, times: Int, headers: HTTPFields) {
        (self.response, self.times, self.headers) = (response, times, headers)
        url = "http://127.0.0.1:\(port)\(Self.path)"
    }

    /// - Parameter times: Number of requests that get `answer`; later requests get 200.
    static func run(
        answering response: HTTPResponse.Status = .ok, times: Int = .max, headers: HTTPFields = [:],
        _ body: @Sendable (ReceivingServer) async throws -> Void
    ) async throws {
        try await LoopbackServer.run(
            make: { ReceivingServer(port: $0, response: response, times: times, headers: headers) },
            respond: { try await $0.respond(to: $1) }, body)
    }

    private func respond(to request: Request) async throws -> Response {
        guard request.method == .post, request.uri.path == Self.path else {
            return Response(status: .notFound)
        }
        let bytes = try await request.body.collect(upTo: 1 << 20)
        let count = received.withLock { bodies in
            bodies.append(String(buffer: bytes))
            return bodies.count
        }
        return Response(
            status: count > times ? .ok : response, headers: headers,
            body: ResponseBody(byteBuffer: ByteBuffer(string: "noted")))
    }
}
