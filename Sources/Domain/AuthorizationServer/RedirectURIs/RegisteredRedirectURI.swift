import Encodings

/// A redirect URI that a client may use, from the configuration or from Google's rules.
///
/// A URI of a request matches when it has the same bytes. Nothing is decoded, normalized or completed before
/// the comparison, because every such step can lead to a URI that is not registered (RFC 9700 §4.1.3).
public struct RegisteredRedirectURI: Sendable, Hashable {
    public enum Form: String, Sendable, Hashable, CaseIterable {
        /// `https`: the host belongs to the client.
        case claimedHTTPS = "https"
        /// A reverse domain name as the scheme (RFC 8252 §7.1).
        case customScheme = "custom_scheme"
        /// `http://127.0.0.1` or `http://[::1]`, on any port (RFC 8252
        /// §7.3), and `http://localhost` if it is allowed.
        case loopback
        /// Google's URI for linking in the browser.
        case googleProject = "google_project"
        /// Google's URI for linking in the app.
        case appFlip = "app_flip"
    }

    public let text: String
    public let form: Form

    /// Largest number of characters.
    public static let longest = 1024

    /// Returns the target of a redirect when the URI of a request is this URI: byte for byte, except the port
    /// of a loopback address, because a native app uses any unused port.
    public func target(for uri: String) -> RedirectTarget? {
        let isMatch =
            form == .loopback
            ? LoopbackAddress(uri)?.isEqualButForPort(to: LoopbackAddress(text)) ?? false
            : text.isByteEqual(to: uri)
        return isMatch ? RedirectTarget(text: uri, form: form) : nil
    }
}

extension RegisteredRedirectURI {
    /// Refuses a form that is not safe for a client of a kind with this rule.
    ///
    /// - Parameters:
    ///   - isDevelopment: True in development. A web application on the developer's machine has no
    ///     certificate, so it may have a loopback address there.
    ///   - allowsCustomScheme: True if the client accepts that another app on Android can claim its scheme.
    public func check(
        by rule: RedirectURIRule, on platform: NativePlatform?, isDevelopment: Bool,
        allowsCustomScheme: Bool = false
    ) throws(RedirectURIFault) {
        switch (rule, form) {
        // A client of Google lists only the URIs of its test tool, and only in development.
        case (_, .claimedHTTPS), (_, .googleProject), (_, .appFlip), (.ofGoogle, _): break
        case (.ofServer, .customScheme): throw .customSchemeOfWebClient
        case (.ofServer, .loopback):
            guard isDevelopment else { throw .loopbackOfWebClient }
        case (.ofInstalledApp, .loopback):
            guard platform?.allowsLoopback ?? true else { throw .loopbackOnPhone }
        case (.ofInstalledApp, .customScheme):
            guard allowsCustomScheme || !(platform?.sharesCustomSchemes ?? false) else {
                throw .customSchemeOnAndroid
            }
            let scheme = text.utf8.prefix { $0 != UInt8(ascii: ":") }
            guard scheme.count <= platform?.longestScheme ?? .max else { throw .schemeTooLong }
        }
    }
}

/// The redirect URIs that are safe for the clients of a kind.
public enum RedirectURIRule: Sendable, Hashable {
    /// URIs that derive from the project in Google's console and from App Flip. Only URIs of
    /// Google's test tool are listed, in development.
    case ofGoogle
    /// Listed URIs for an application with a server: `https`, and in development a loopback address.
    case ofServer
    /// Listed URIs for an installed app: also custom schemes and loopback addresses,
    /// as its platform allows (RFC 8252, appendix B).
    case ofInstalledApp
}

/// The destination of the response to one request: a redirect URI that matched a registered URI.
///
/// Only a match creates a target, so that nothing can be sent to an unchecked URI.
public struct RedirectTarget: Sendable, Hashable {
    /// The URI as in the request, with its port. The token request must repeat these bytes.
    public let text: String
    public let form: RegisteredRedirectURI.Form

    /// True if the response goes to a program on this computer.
    public var isLoopback: Bool { form == .loopback }

    /// Source that `form-action` of a Content-Security-Policy must name, or Chromium blocks the redirect that
    /// follows a form (CSP Level 3 §2.3.1): the origin, or the scheme if there is no origin.
    public var formActionSource: String {
        let bytes = Array(text.utf8)
        let scheme = bytes.prefix { $0 != UInt8(ascii: ":") }
        let rest = bytes.dropFirst(scheme.count)
        let authority = rest.dropFirst(3).prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") }
        // A custom scheme has no host, and a host source cannot be an IPv6 address.
        let hasSource = rest.starts(with: "://".utf8) && authority.first != UInt8(ascii: "[")
        return String(
            decoding: hasSource ? scheme + "://".utf8 + authority : scheme + ":".utf8, as: UTF8.self)
    }

    /// The browser's destination as a short text for users: a host with its port, or the scheme of an app.
    public var destination: String {
        guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) else { return text }
        let rest = text.utf8[text.utf8.index(after: colon)...]
        // Only text directly after the scheme is a host. A path can contain another URI.
        guard rest.starts(with: "//".utf8) else { return String(text[..<colon]) }
        let host = rest.dropFirst(2).prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") }
        return String(Substring(host))
    }
}

/// A URI on the loopback interface, split at its port (RFC 8252 §7.3).
///
/// The two literal addresses and `localhost` are accepted. Another parser could read other spellings of the
/// address differently. The machine's configuration can give `localhost` another address, so it matches only
/// if it is registered; the registration decides if it may be.
struct LoopbackAddress: Equatable {
    /// `http://127.0.0.1`, `http://[::1]` or `http://localhost`.
    private let origin: [UInt8]
    let port: UInt16?
    /// Path and query, both optional.
    let rest: [UInt8]

    private static let localhost = Array("http://localhost".utf8)
    private static let origins = ["http://127.0.0.1", "http://[::1]"].map { Array($0.utf8) } + [localhost]

    /// Returns `nil` for any other URI, and for a port that is not written as a number from 1 to 65535.
    init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard let origin = Self.origins.first(where: bytes.starts) else { return nil }
        var rest = bytes[origin.count...]
        var port: UInt16?
        if rest.first == UInt8(ascii: ":") {
            let digits = rest.dropFirst().prefix(while: \.isDigit)
            guard let number = Self.port(digits) else { return nil }
            port = number
            rest = rest.dropFirst(1 + digits.count)
        }
        // Otherwise http://127.0.0.1.example.com and http://127.0.0.1@example.com would be loopback.
        guard rest.isEmpty || rest.first == UInt8(ascii: "/") || rest.first == UInt8(ascii: "?") else {
            return nil
        }
        self.origin = origin
        self.port = port
        self.rest = Array(rest)
    }

    var isLocalhost: Bool { origin == Self.localhost }

    func isEqualButForPort(to other: LoopbackAddress?) -> Bool {
        origin == other?.origin && rest == other?.rest
    }

    /// Reads a port. Accepts one spelling of each number, so that a leading zero does not match.
    static func port(_ digits: some Collection<UInt8>) -> UInt16? {
        guard (1...5).contains(digits.count), digits.first != UInt8(ascii: "0"), digits.allSatisfy(\.isDigit)
        else { return nil }
        return UInt16(String(decoding: digits, as: UTF8.self))
    }
}
