import Logging
import NIOCore
import NIOHTTP1
import NIOPosix
import ServiceLifecycle
import Synchronization
import TestSupport
import Testing

@testable import HTTPEngine

/// The engine with an interface that is not the service's, over real sockets.
@Suite(.timeLimit(.hung)) struct HTTPServerTests {
    struct ServerService: Service {
        let server: HTTPServer
        func run() async throws { try await server.run() }
    }

    /// Runs a server for as long as `body`, and returns what its interface has observed.
    @discardableResult
    static func serve(
        limits: ServerLimits = ServerLimits(), noting record: EchoInterface.Record = EchoInterface.Record(),
        _ body: (_ port: Int) async throws -> Void
    ) async throws -> EchoInterface.Record {
        let server = HTTPServer(
            host: "127.0.0.1", port: 0, limits: limits, logger: .silent, now: { 0 },
            interface: { EchoInterface(eventLoop: $0, record: record) }, noteEarlyClose: { _ in })
        let group = ServiceGroup(services: [ServerService(server: server)], logger: .silent)
        async let run: Void = group.run()
        try await body(try await server.boundPort())
        await group.triggerGracefulShutdown()
        try await run
        return record
    }

    /// All that the server sends until it closes the connection.
    static func responses(to text: String, port: Int) async throws -> String {
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connect(host: "127.0.0.1", port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                }
            }
        return try await channel.executeThenClose { inbound, outbound in
            try await outbound.write(ByteBuffer(string: text))
            var received = ""
            for try await bytes in inbound { received += String(buffer: bytes) }
            return received
        }
    }

    @Test(arguments: [
        ("/memory", 0), ("/task", 0), ("/command", 1), ("/task-and-command", 1), ("/tasks", 0),
        ("/tasks-and-command", 1), ("/commands", 2), ("/command-and-task", 1),
    ])
    func `a response comes from memory, tasks and commands`(path: String, commands: Int) async throws {
        let record = try await Self.serve { port in
            let text = try await Self.responses(
                to: "GET \(path) HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n", port: port)
            #expect(text.hasPrefix("HTTP/1.1 200 OK\r\nx-shared: a\r\nx-other: b\r\ncontent-type: "))
            #expect(
                text.contains(
                    "date: Thu, 01 Jan 1970 00:00:00 GMT\r\nx-request-id: id\r\nx-finished: yes\r\n"))
            #expect(text.hasSuffix("\r\n\r\n\(path)"))
        }
        #expect(record.finished.withLock { $0 } == [200])
        #expect(record.batches.withLock { $0 } == Array(repeating: 1, count: commands))
        #expect(record.connections.withLock { $0 } == 0)
    }

    @Test func `pipelined requests have their responses in order, whatever they wait for`() async throws {
        let paths = [
            "/task", "/memory", "/command", "/task-and-command", "/tasks", "/tasks-and-command", "/commands",
            "/command-and-task", "/memory",
        ]
        let record = try await Self.serve { port in
            let requests = paths.map { "GET \($0) HTTP/1.1\r\nHost: h\r\n\r\n" }.joined()
            let text = try await Self.responses(
                to: requests + "GET /last HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n", port: port)
            let bodies = text.components(after: "\r\n\r\n")
            #expect(bodies == paths + ["/last"])
        }
        #expect(record.finished.withLock { $0 } == Array(repeating: 200, count: paths.count + 1))
    }

    @Test func `a commit after the time limit counts as late, and has no second response`() async throws {
        var limits = ServerLimits()
        limits.workTime = .milliseconds(50)
        let record = EchoInterface.Record()
        try await Self.serve(limits: limits, noting: record) { port in
            let text = try await Self.responses(to: "GET /late HTTP/1.1\r\nHost: h\r\n\r\n", port: port)
            #expect(text.components(after: "\r\n\r\n") == ["unavailable"])
            // The commit begins with the response, and the connection closes after the response.
            try await eventually { record.late.withLock { $0 } == 1 }
        }
        #expect(record.finished.withLock { $0 } == [503])
        #expect(record.batches.withLock { $0 } == [1])
        #expect(record.late.withLock { $0 } == 1)
    }

    @Test(arguments: [
        ("GET / HTTP/1.1\r\n\r\n", "malformed"),
        ("POST / HTTP/1.1\r\nHost: h\r\nContent-Length: 1000000\r\n\r\n", "bodyTooLarge"),
        ("GET / HTTP/1.1\r\nA: \(String(repeating: "a", count: 20_000))\r\n\r\n", "headerTooLarge"),
    ])
    func `a refusal of the engine has the response of the interface, and closes`(
        request: String, refusal: String
    ) async throws {
        let record = try await Self.serve { port in
            let text = try await Self.responses(to: request, port: port)
            #expect(text.hasPrefix("HTTP/1.1 400 Bad Request\r\n"))
            #expect(text.hasSuffix("connection: close\r\n\r\n\(refusal)"))
        }
        #expect(record.finished.withLock { $0 } == [400])
    }
}

extension String {
    /// The text after each separator, up to the next status line.
    fileprivate func components(after separator: String) -> [String] {
        split(separator: "HTTP/1.1 ").compactMap { response in
            response.firstRange(of: separator).map { String(response[$0.upperBound...]) }
        }
    }
}

@Suite(.timeLimit(.hung)) struct AcceptErrorHandlerTests {
    /// Counts the reads that reach the socket.
    final class ReadCounter: ChannelOutboundHandler, Sendable {
        typealias OutboundIn = Never
        let reads = Mutex(0)
        func read(context: ChannelHandlerContext) {
            reads.withLock { $0 += 1 }
            context.read()
        }
    }

    @Test func `a listening socket that cannot accept is left alone, and tried again later`() async throws {
        let counter = ReadCounter()
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .serverChannelOption(.autoRead, value: false)
            .bind(host: "127.0.0.1", port: 0).get()
        let before = try await channel.eventLoop.submit {
            let pipeline = channel.pipeline.syncOperations
            try pipeline.addHandler(counter, position: .first)
            try pipeline.addHandler(AcceptErrorHandler(logger: .silent), position: .after(counter))
            channel.read()
            let before = counter.reads.withLock { $0 }
            for _ in 0..<100 {
                pipeline.fireErrorCaught(IOError(errnoCode: 24, reason: "accept"))
                channel.read()
            }
            #expect(counter.reads.withLock { $0 } == before)
            return before
        }.get()
        #expect(before == 1)
        while counter.reads.withLock({ $0 }) == before { try await Task.sleep(for: .milliseconds(5)) }
        #expect(counter.reads.withLock { $0 } == before + 1)
        try await channel.close()
    }
}

/// An interface without routes: the path chooses where the response comes from, and is its body.
final class EchoInterface: HTTPInterface {
    /// Observations of all event loops.
    final class Record: Sendable {
        let batches = Mutex<[Int]>([])
        let finished = Mutex<[UInt]>([])
        let connections = Mutex(0)
        let late = Mutex(0)
        /// Ends with the first request that reaches its time limit.
        let untilUnavailable = AsyncStream<Void>.makeStream()
    }

    private let eventLoop: any EventLoop
    private let record: Record
    private var gathered: [(next: ResponseSource, completion: ResponseSource.Completion)] = []

    init(eventLoop: any EventLoop, record: Record) { (self.eventLoop, self.record) = (eventLoop, record) }

    func handle(
        _ request: IncomingRequest, from client: ClientAddress?, gate: AdmissionGate
    ) -> (exchange: any HTTPExchange, source: ResponseSource) {
        let (exchange, path) = (EchoExchange(record), request.head.uri)
        let loop = NIOLoopBound(self, eventLoop: eventLoop)
        let response = ResponseSource.response(EchoExchange.response(path))
        func command(then next: ResponseSource) -> ResponseSource {
            .command { loop.value.gathered.append((next, $0)) }
        }
        let source: ResponseSource =
            switch path {
            case "/command": command(then: response)
            case "/task": .work { response }
            case "/task-and-command": .work { [command = command(then: response)] in command }
            case "/tasks": .work { .work { response } }
            case "/tasks-and-command": .work { [command = command(then: response)] in .work { command } }
            case "/late":
                .work { [command = command(then: response), record] in
                    for await _ in record.untilUnavailable.stream {}
                    return command
                }
            case "/commands": command(then: command(then: response))
            case "/command-and-task": command(then: .work { response })
            default: response
            }
        return (exchange, source)
    }

    func refuse(
        _ refusal: RequestRefusal, of request: IncomingRequest?
    ) -> (exchange: any HTTPExchange, response: HTTPResponse) {
        (EchoExchange(record), EchoExchange.response("\(refusal)", .badRequest))
    }

    func submitGathered() {
        let commands = gathered
        gathered = []
        record.batches.withLock { $0.append(commands.count) }
        // On another thread, as a store does.
        Task.detached { for command in commands { command.completion { command.next } } }
    }

    func connectionOpened() { record.connections.withLock { $0 += 1 } }
    func connectionClosed() { record.connections.withLock { $0 -= 1 } }
    func requestFinishedLate() { record.late.withLock { $0 += 1 } }
}

/// A request to `EchoInterface`.
final class EchoExchange: HTTPExchange {
    let requestID = "id"
    let sharedFields: StaticString = "x-shared: a\r\nx-other: b\r\n"
    let omitsBody = false
    let longestWait = TimeAmount.zero
    let isLongPoll = false
    let unavailable = EchoExchange.response("unavailable", .serviceUnavailable)
    private let record: EchoInterface.Record

    init(_ record: EchoInterface.Record) { self.record = record }

    static func response(_ text: String, _ status: HTTPResponseStatus = .ok) -> HTTPResponse {
        HTTPResponse(status: status, contentType: "text/plain", body: Array(text.utf8))
    }

    func finish(_ response: HTTPResponse, at now: NIODeadline) -> HTTPResponse {
        record.finished.withLock { $0.append(response.status.code) }
        if response.status == .serviceUnavailable { record.untilUnavailable.continuation.finish() }
        var response = response
        response.fields.append(("x-finished", "yes"))
        return response
    }
}
