import AsyncHTTPClient
import NIOHTTP1

extension HTTPClientRequest {
    /// Names `siwa doctor`, so that what it tries can be told from what users and the service do. The fake Apple
    /// looks at it.
    mutating func nameDoctor() { headers.add(name: "User-Agent", value: "siwa-doctor") }
}
