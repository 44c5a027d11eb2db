import AsyncHTTPClient
import Encodings
import JOSE
import NIOCore
import NIOHTTP1
import StrictJSON

/// The service's published keys, fetched when a token names an unknown key.
actor PublishedKeys {
    enum Lookup {
        case found(ECPublicKey)
        case unknown
        case unavailable
    }

    /// Minimum time between two fetches. It limits the load that tokens with invented key IDs can cause at
    /// the service.
    static let pause = Duration.seconds(1)
    static let timeout = TimeAmount.seconds(5)
    /// Maximum document size in bytes.
    static let longestDocument = 64 * 1024
    /// Maximum number of keys, more than a rotation needs.
    static let mostKeys = 16

    private var keys: [String: ECPublicKey] = [:]
    private var url: String?
    private var fetchedAt: ContinuousClock.Instant?
    private var fetching: Task<[String: ECPublicKey]?, Never>?

    func key(_ id: String, at url: String) async -> Lookup {
        if self.url != url { (self.url, keys, fetchedAt) = (url, [:], nil) }
        if let key = keys[id] { return .found(key) }
        // All tokens that arrive during a fetch share its result.
        if let fetching { return Self.lookUp(id, in: await fetching.value) }
        if let fetchedAt, ContinuousClock.now - fetchedAt < Self.pause { return .unknown }
        let task = Task { await Self.fetch(url) }
        fetching = task
        let fetched = await task.value
        fetching = nil
        if let fetched { (keys, fetchedAt) = (fetched, .now) }
        return Self.lookUp(id, in: fetched)
    }

    private static func lookUp(_ id: String, in fetched: [String: ECPublicKey]?) -> Lookup {
        guard let fetched else { return .unavailable }
        return fetched[id].map { .found($0) } ?? .unknown
    }

    private static func fetch(_ url: String) async -> [String: ECPublicKey]? {
        var configuration = HTTPClient.Configuration()
        configuration.redirectConfiguration = .disallow
        configuration.connectionPool.retryConnectionEstablishment = false
        return try? await HTTPClient.withHTTPClient(configuration: configuration) { client in
            let response = try await client.execute(HTTPClientRequest(url: url), timeout: timeout)
            let body = try await response.body.collect(upTo: longestDocument)
            guard response.status == .ok else { return nil }
            let entries = try JSONValue(parsing: Array(buffer: body))["keys"]?.array ?? []
            let keys = entries.prefix(mostKeys).compactMap(key)
            return Dictionary(keys, uniquingKeysWith: { first, _ in first })
        }
    }

    /// Returns the key in an entry; `nil` for a key of another type (RFC 7518 §6.2).
    private static func key(_ entry: JSONValue) -> (String, ECPublicKey)? {
        guard entry["kty"]?.string == "EC", entry["crv"]?.string == "P-256",
            let id = entry["kid"]?.string,
            let x = entry["x"]?.string.flatMap({ Base64URL.decode($0) }),
            let y = entry["y"]?.string.flatMap({ Base64URL.decode($0) }),
            let key = try? ECPublicKey(x: x, y: y)
        else { return nil }
        return (id, key)
    }
}
