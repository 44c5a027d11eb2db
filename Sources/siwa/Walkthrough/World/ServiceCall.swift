import AsyncHTTPClient
import Console
import NIOCore
import NIOHTTP1
import StrictJSON

/// A call of the service over HTTP with an API key, as a backend makes it.
struct ServiceCall: Sendable {
    struct Response: Sendable {
        let status: Int
        let json: JSONValue?
        let requestID: String?

        var isFine: Bool { (200..<300).contains(status) }
    }

    /// Bytes of a response, at most.
    private static let longestResponse = 1 << 20
    private static let timeout = TimeAmount.seconds(30)

    let service: String
    let secret: String

    /// Throws `DevelopmentWorldError` when no response arrives.
    func post(_ path: String, _ body: JSONObject) async throws -> Response {
        var request = HTTPClientRequest(url: service + path)
        request.method = .POST
        request.headers.add(name: "Authorization", value: "Bearer \(secret)")
        request.headers.add(name: "Content-Type", value: "application/json")
        request.body = .bytes(ByteBuffer(bytes: JSONValue.object(body).serialized()))
        do {
            let response = try await HTTPClient.shared.execute(request, timeout: Self.timeout)
            let bytes = Array(buffer: try await response.body.collect(upTo: Self.longestResponse))
            return Response(
                status: Int(response.status.code), json: try? JSONValue(parsing: bytes),
                requestID: response.headers.first(name: "X-Request-ID"))
        } catch {
            throw DevelopmentWorldError("siwa did not answer: \(error)")
        }
    }
}
