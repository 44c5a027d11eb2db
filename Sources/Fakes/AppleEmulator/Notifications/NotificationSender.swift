import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import NIOPosix
import StrictJSON

/// Posts notifications as Apple does: `{"payload":"<JWS>"}`, authenticated only by the signature.
struct NotificationSender: Sendable {
    /// The time limit for the receiver.
    static let timeout = TimeAmount.seconds(10)
    /// The longest part of a response body that is stored, in bytes.
    static let responseLimit = 16 * 1024

    /// Posts a payload. Does not throw: failures of the receiver are part of the result.
    func deliver(_ payload: String, to target: NotificationTarget) async -> Delivery {
        var request = HTTPClientRequest(url: target.url)
        request.method = .POST
        request.headers.add(name: "Content-Type", value: "application/json")
        request.body = .bytes(Self.body(payload))
        do {
            let sent = request
            return try await HTTPClient.withHTTPClient(configuration: Self.configuration) { client in
                let response = try await client.execute(sent, timeout: Self.timeout)
                let body = try await Self.read(response.body)
                return Delivery(
                    url: target.url, outcome: .answered(status: Int(response.status.code), body: body),
                    requestID: response.headers.first(name: "X-Request-ID"))
            }
        } catch {
            return Delivery(url: target.url, outcome: .failed(Self.failure(error)))
        }
    }

    private static func body(_ payload: String) -> [UInt8] {
        var writer = JSONWriter(reservingCapacity: payload.utf8.count + 16)
        writer.beginObject()
        writer.member("payload", payload)
        writer.endObject()
        return writer.bytes
    }

    private static func read(_ body: HTTPClientResponse.Body) async throws -> String {
        var bytes: [UInt8] = []
        for try await part in body {
            bytes.append(contentsOf: part.readableBytesView.prefix(responseLimit - bytes.count))
            if bytes.count >= responseLimit { break }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func failure(_ error: any Error) -> Delivery.Failure {
        switch error {
        case is NIOConnectionError, is IOError: .connectionFailed
        case let error as HTTPClientError where error == .connectTimeout: .connectionFailed
        case let error as HTTPClientError where error == .deadlineExceeded || error == .readTimeout: .timedOut
        default: .responseBroken
        }
    }

    /// Redirects are not followed, because they would bypass the check of the host. A refused connection is
    /// reported at once, without retries.
    private static var configuration: HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration()
        configuration.redirectConfiguration = .disallow
        configuration.timeout = .init(connect: .seconds(5))
        configuration.connectionPool.retryConnectionEstablishment = false
        return configuration
    }
}
