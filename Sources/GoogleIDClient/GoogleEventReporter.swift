public import AsyncHTTPClient
import NIOCore
import NIOHTTP1
public import OAuth

/// Posts security event tokens to Google (`application/secevent+jwt`).
public struct GoogleEventReporter: SecurityEventReporting {
    /// For a whole report.
    private static let timeLimit = TimeAmount.seconds(15)

    private let client: HTTPClient
    private let url: String

    public init(client: HTTPClient, endpoints: GoogleEndpoints) {
        (self.client, url) = (client, endpoints.eventsReport)
    }

    public func report(_ token: String) async throws {
        var request = HTTPClientRequest(url: url)
        request.method = .POST
        request.headers.add(name: "Content-Type", value: "application/secevent+jwt")
        request.headers.add(name: "Accept", value: "application/json")
        request.headers.add(name: "User-Agent", value: "siwa")
        request.body = .bytes(ByteBuffer(string: token))
        let status: Int
        do {
            // The body of the answer is not needed. An unread body is dropped with its connection.
            status = Int(try await client.execute(request, timeout: Self.timeLimit).status.code)
        } catch {
            throw SecurityEventReportError(.unreachable)
        }
        guard status == 202 else {
            throw SecurityEventReportError(.refused, status: status)
        }
    }
}
