import AsyncHTTPClient
import Console
import HTTPAPI
import NIOCore
import NIOHTTP1

/// Resends a recorded request to this service without changes, in development.
struct RequestReplay: Sendable {
    /// The port that the service listens on.
    let port: Int

    /// Resends the request, and returns the response status.
    func callAsFunction(_ kept: RecentRequest, requestID: String) async throws -> Int {
        guard let exchange = kept.exchange else { throw CancellationError() }
        var request = HTTPClientRequest(url: "http://127.0.0.1:\(port)\(exchange.target)")
        request.method = HTTPMethod(rawValue: kept.method)
        request.headers.add(name: "x-request-id", value: requestID)
        if let type = exchange.contentType { request.headers.add(name: "content-type", value: type) }
        if let authorization = exchange.authorization {
            request.headers.add(name: "authorization", value: authorization)
        }
        if !exchange.body.isEmpty { request.body = .bytes(ByteBuffer(bytes: exchange.body)) }
        var configuration = HTTPClient.Configuration(redirectConfiguration: .disallow)
        configuration.tracing.tracer = nil
        return try await HTTPClient.withHTTPClient(configuration: configuration) { [request] client in
            Int(try await client.execute(request, timeout: .seconds(30)).status.code)
        }
    }
}

extension RequestsPages {
    /// Creates the pages. *Send again* exists only in development with a known port.
    init(_ settings: ServiceSettings, recent: RecentRequests, audit: @escaping ConsoleAudit) {
        let port = settings.numbers[.port]
        let address = settings.publicURL ?? "http://127.0.0.1:\(port)"
        guard recent.keepsExchanges, port != 0 else {
            self.init(recent: recent, address: address)
            return
        }
        let replay = RequestReplay(port: port)
        self.init(recent: recent, address: address, audit: audit) { try await replay($0, requestID: $1) }
    }
}
