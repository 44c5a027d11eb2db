import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import OAuth

/// Posts security event tokens to Google (`application/secevent+jwt`).
struct GoogleEventReporter: SecurityEventReporting {
    private let client: HTTPClient
    private let url: String
    private let timeLimit: TimeAmount

    /// - Parameters:
    ///   - client: HTTP client, which must not follow redirects: a token is for Google alone.
    ///   - timeLimit: Time limit of a whole report. Must be shorter than the claim of a delivery.
    init(client: HTTPClient, endpoints: GoogleEndpoints, timeLimit: TimeAmount = .seconds(15)) {
        (self.client, url, self.timeLimit) = (client, endpoints.eventsReport, timeLimit)
    }

    func report(_ token: String) async throws {
        var request = HTTPClientRequest(url: url)
        request.method = .POST
        request.headers.add(name: "Content-Type", value: "application/secevent+jwt")
        request.headers.add(name: "Accept", value: "application/json")
        request.headers.add(name: "User-Agent", value: "siwa")
        request.body = .bytes(ByteBuffer(string: token))
        let status: Int
        do {
            // The body of the response is not needed. An unread body is dropped with its connection.
            status = Int(try await client.execute(request, timeout: timeLimit).status.code)
        } catch {
            throw SecurityEventReportError(.unreachable)
        }
        guard status == 202 else {
            throw SecurityEventReportError(.refused, status: status)
        }
    }
}
