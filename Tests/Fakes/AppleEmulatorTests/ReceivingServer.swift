import HTTPTypes
import Hummingbird
import NIOCore
import ScriptedHTTP
import Synchronization

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
        _ body: @escaping @Sendable (ReceivingServer) async throws -> Void
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
