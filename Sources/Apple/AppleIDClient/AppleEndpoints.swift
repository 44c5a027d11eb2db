// AppleIDClient owns the HTTP requests to Apple: endpoints, time limits, and size limits for responses. It
// does not apply responses to accounts; its callers do, through protocols of other modules.

public import AsyncHTTPClient
import NIOCore
import OutgoingHTTP

/// URLs of Apple's endpoints. They are constants and not read from the discovery document, because that
/// document was wrong for several days in 2025, and services that relied on it failed.
public struct AppleEndpoints: Sendable, Equatable {
    /// Apple's endpoints at `https://appleid.apple.com`.
    public static let apple = AppleEndpoints(trusted: "https://appleid.apple.com")

    /// The base of all URLs, without a trailing slash.
    public let baseURL: String

    /// Creates endpoints on another host, for example the emulator. Returns `nil` unless the URL is an
    /// absolute http or https URL without user, query and fragment.
    public init?(baseURL: String) {
        guard let scheme = ["https://", "http://"].first(where: { baseURL.hasPrefix($0) }) else { return nil }
        let bytes = Array(baseURL.utf8)
        let allowed = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~:/[]%".utf8)
        guard bytes.allSatisfy({ allowed.contains($0) }) else { return nil }
        let authority = bytes.dropFirst(scheme.utf8.count).prefix { $0 != UInt8(ascii: "/") }
        guard Self.isAuthority(String(decoding: authority, as: UTF8.self)) else { return nil }
        var trimmed = baseURL
        while trimmed.hasSuffix("/") { trimmed.removeLast() }
        self.init(trusted: trimmed)
    }

    /// URL of the key set for identity tokens and notifications.
    public var keySet: String { "\(baseURL)/auth/keys" }

    /// URL for exchanging codes, validating refresh tokens,
    /// and getting access tokens for the migration endpoint.
    public var token: String { "\(baseURL)/auth/token" }
    public var revoke: String { "\(baseURL)/auth/revoke" }
    /// URL that returns a user's identifiers for another team during an app transfer.
    public var migration: String { "\(baseURL)/auth/usermigrationinfo" }
    /// URL of the page where a browser signs in.
    public var authorize: String { "\(baseURL)/auth/authorize" }

    /// URL for exchanging App Attest receipts. Apple has a separate
    /// host for each environment; other servers use a path.
    public var attestationData: String {
        self == .apple
            ? "https://data.appattest.apple.com/v1/attestationData" : "\(baseURL)/v1/attestationData"
    }
    public var developmentAttestationData: String {
        self == .apple
            ? "https://data-development.appattest.apple.com/v1/attestationData"
            : "\(baseURL)/development/v1/attestationData"
    }

    private init(trusted baseURL: String) {
        self.baseURL = baseURL
    }

    /// Returns true for a host name, an IPv4 address or a bracketed IPv6 address, with an optional port.
    private static func isAuthority(_ text: String) -> Bool {
        var host = text[...]
        if let colon = text.lastIndex(of: ":"), !text[colon...].contains("]") {
            guard let port = UInt16(text[text.index(after: colon)...]), port > 0 else { return false }
            host = text[..<colon]
        }
        if host.hasPrefix("["), host.hasSuffix("]") {
            return host.count > 2
                && host.dropFirst().dropLast().allSatisfy { $0.isHexDigit || $0 == ":" || $0 == "." }
        }
        return !host.isEmpty && !host.contains { ":[]%".contains($0) }
    }
}

/// The time limits for a request to Apple.
public struct AppleTimeLimits: Sendable, Equatable {
    /// Time for the connection, including TLS: 5 seconds.
    public let connect: Duration
    /// The longest wait for the next byte: 5 seconds.
    public let read: Duration
    /// Time for the request and the whole response: 10 seconds. Without this limit, a response that trickles
    /// in byte by byte would keep a request open forever.
    public let total: Duration

    public init(
        connect: Duration = .seconds(5), read: Duration = .seconds(5), total: Duration = .seconds(10)
    ) {
        self.connect = connect
        self.read = read
        self.total = total
    }
}

extension HTTPClient.Configuration {
    /// Returns the HTTP client configuration for requests to Apple, with one client per process. It follows
    /// no redirects, does not decompress, limits each response's size outside the body, and sets the time
    /// limits that only the client can enforce. The client's owner shuts it down.
    public static func apple(_ limits: AppleTimeLimits = AppleTimeLimits()) -> HTTPClient.Configuration {
        var configuration = HTTPClient.Configuration(
            redirectConfiguration: .disallow,
            timeout: Timeout(
                connect: TimeAmount(limits.connect), read: TimeAmount(limits.read),
                write: TimeAmount(limits.read)),
            connectionPool: ConnectionPool(
                // This time is longer than the pause between two daily checks, but shorter than the time for
                // which servers keep idle connections. If the client sent a request on a connection that the
                // server has just closed, the request would be lost, together with its code.
                idleTimeout: .seconds(10),
                // Each concurrent worker can have its own connection, so that no worker waits for another
                // worker's slow response.
                concurrentHTTP1ConnectionsPerHostSoftLimit: 32),
            decompression: .disabled)
        // `OutgoingRequestSpan` creates the spans instead, without values from URLs or headers.
        configuration.tracing.tracer = nil
        configuration.boundResponses()
        return configuration
    }
}
