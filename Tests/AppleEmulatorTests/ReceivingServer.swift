import HTTPTypes
import Hummingbird
import Logging
import NIOCore
import Synchronization
import TestSupport

/// A server that receives notifications, answers as configured and stores the bodies.
final class ReceivingServer: Sendable {
    private let answer: HTTPResponse.Status
    private let headers: HTTPFields
    private let received = Mutex<[String]>([])
    let url: String

    var bodies: [String] { received.withLock { $0 } }

    private init(port: Int, answer: HTTPResponse.Status, headers: HTTPFields) {
        (self.answer, self.headers, url) = (
            answer, headers, "http://127.0.0.1:\(port)/v1/apple/notifications"
        )
    }

    /// - Parameter times: how many requests get `answer`; those after them get 200.
    static func run(
        answering answer: HTTPResponse.Status = .ok, times: Int = .max, headers: HTTPFields = [:],
        _ body: @escaping @Sendable (ReceivingServer) async throws -> Void
    ) async throws {
        let (ports, continuation) = AsyncStream<Int>.makeStream()
        let holder = Mutex<ReceivingServer?>(nil)
        let router = Router()
        router.post("v1/apple/notifications") { request, _ in
            let bytes = try await request.body.collect(upTo: 1 << 20)
            let server = holder.withLock { $0 }
            let count = server?.received.withLock { bodies in
                bodies.append(String(buffer: bytes))
                return bodies.count
            }
            return Response(
                status: (count ?? 0) > times ? .ok : answer, headers: headers,
                body: ResponseBody(byteBuffer: ByteBuffer(string: "noted")))
        }
        let application = Application(
            router: router, configuration: ApplicationConfiguration(address: .hostname("127.0.0.1", port: 0)),
            onServerRunning: { continuation.yield($0.localAddress?.port ?? 0) }, logger: .silent)
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await application.run() }
            defer { group.cancelAll() }
            for await port in ports {
                let server = ReceivingServer(port: port, answer: answer, headers: headers)
                holder.withLock { $0 = server }
                try await body(server)
                break
            }
        }
    }
}
