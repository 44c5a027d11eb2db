import AppleIDClient
import AsyncHTTPClient
import Encodings
import NIOCore
import NIOHTTP1

/// Fetches Apple's key set once for several checks.
struct AppleProbe: Sendable {
    struct Response: Sendable {
        let status: Int
        let body: [UInt8]
        /// The `Date` of the response in seconds since 1970, if present.
        let date: Int64?
    }

    let endpoints: AppleEndpoints
    let client: HTTPClient

    /// Returns `nil` when no complete response arrived. The time limits of the client apply.
    func fetch() async -> Response? {
        do {
            var request = HTTPClientRequest(url: endpoints.keySet)
            request.nameDoctor()
            let response = try await client.execute(request, timeout: .seconds(10))
            let body = try await response.body.collect(upTo: 65_536)
            return Response(
                status: Int(response.status.code), body: Array(buffer: body),
                date: response.headers.first(name: "Date").flatMap { HTTPDate.seconds($0) })
        } catch {
            return nil
        }
    }
}
