import AppleIDClient
import AsyncHTTPClient
import Encodings
import NIOCore
import NIOHTTP1

/// Asks for Apple's key set once, and keeps what can be learned from that.
struct AppleProbe: Sendable {
    struct Answer: Sendable {
        let status: Int
        let body: [UInt8]
        /// Seconds since 1970 by Apple's clock, when it said so.
        let date: Int64?
    }

    let endpoints: AppleEndpoints
    let client: HTTPClient

    /// `nil` when no whole answer came. The client's time limits bound it.
    func ask() async -> Answer? {
        do {
            var request = HTTPClientRequest(url: endpoints.keySet)
            request.headers.add(name: "User-Agent", value: "siwa")
            let response = try await client.execute(request, timeout: .seconds(10))
            let body = try await response.body.collect(upTo: 65_536)
            return Answer(
                status: Int(response.status.code), body: Array(buffer: body),
                date: response.headers.first(name: "Date").flatMap { HTTPDate.seconds($0) })
        } catch {
            return nil
        }
    }
}
