import Encodings

/// A redirect URI that a client may use, from the configuration or from Google's rules.
///
/// A request's URI matches if it is identical byte for byte. Nothing is decoded, normalized or completed
/// before the comparison, because any such step could admit a URI that is not registered (RFC 9700 §4.1.3).
public struct RegisteredRedirectURI: Sendable, Hashable {
    public enum Form: String, Sendable, Hashable, CaseIterable {
        /// An `https` URI on a host that belongs to the client.
        case claimedHTTPS = "https"
        /// A URI whose scheme is a reverse domain name (RFC 8252 §7.1).
        case customScheme = "custom_scheme"
        /// `http://127.0.0.1` or `http://[::1]`, on any port (RFC 8252 §7.3), and `http://localhost` if the
        /// client may use it.
        case loopback
        /// Google's URI for linking in the browser.
        case googleProject = "google_project"
        /// Google's URI for linking in an app (App Flip).
        case appFlip = "app_flip"
    }

    public let text: String
    public let form: Form

    /// Maximum length of a redirect URI in characters.
    public static let longest = 1024

    /// Returns the redirect target if this URI matches the request's URI. The match is byte for byte, except
    /// for the port of a loopback address, because a native app listens on any free port.
    public func target(for uri: String) -> RedirectTarget? {
        let isMatch =
            form == .loopback
            ? LoopbackAddress(uri)?.isEqualButForPort(to: LoopbackAddress(text)) ?? false
            : text.isByteEqual(to: uri)
        return isMatch ? RedirectTarget(text: uri, form: form) : nil
    }
}

extension RegisteredRedirectURI {
    /// Throws a fault if the form is not safe for clients whose kind has this rule.
    ///
    /// - Parameters:
    ///   - isDevelopment: True in development, where a web application may have a loopback address, because
    ///     the developer's machine has no certificate for it.
    ///   - allowsCustomScheme: True if the client accepts that another Android app can claim its scheme.
    public func check(
        by rule: RedirectURIRule, on platform: NativePlatform?, isDevelopment: Bool,
        allowsCustomScheme: Bool = false
    ) throws(RedirectURIFault) {
        switch (rule, form) {
        // A `google_linking` client lists only the URIs of Google's test tool, and only in development.
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

/// The redirect URIs that are safe for clients of a kind.
public enum RedirectURIRule: Sendable, Hashable {
    /// URIs that are derived from the Google console project and from App Flip. The configuration lists only
    /// URIs of Google's test tool, and only in development.
    case ofGoogle
    /// URIs that the configuration lists for a server application: `https`, and in development loopback
    /// addresses.
    case ofServer
    /// URIs that the configuration lists for an installed app: `https`, custom schemes and loopback
    /// addresses, as the platform allows (RFC 8252, appendix B).
    case ofInstalledApp
}

/// A response's destination: the request's URI, which has matched a registered URI.
///
/// Only a match creates a target, so that no response can be sent to an unchecked URI.
public struct RedirectTarget: Sendable, Hashable {
    /// The URI exactly as in the request, including its port. The token request must repeat its bytes.
    public let text: String
    public let form: RegisteredRedirectURI.Form

    /// True if the response goes to a program on the user's computer.
    public var isLoopback: Bool { form == .loopback }

    /// The source to allow in `form-action` of a Content-Security-Policy, without which Chromium blocks the
    /// redirect that follows a form (CSP Level 3 §2.3.1). It is the origin, or the scheme if there is no
    /// origin.
    public var formActionSource: String {
        let bytes = Array(text.utf8)
        let scheme = bytes.prefix { $0 != UInt8(ascii: ":") }
        let rest = bytes.dropFirst(scheme.count)
        let authority = rest.dropFirst(3).prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") }
        // Only the scheme can be a source if a custom scheme has no host, or if the host is an IPv6 address,
        // which a host source cannot contain.
        let hasSource = rest.starts(with: "://".utf8) && authority.first != UInt8(ascii: "[")
        return String(
            decoding: hasSource ? scheme + "://".utf8 + authority : scheme + ":".utf8, as: UTF8.self)
    }

    /// The browser's destination, as a short text for users: the host and port, or the app's scheme.
    public var destination: String {
        guard let colon = text.utf8.firstIndex(of: UInt8(ascii: ":")) else { return text }
        let rest = text.utf8[text.utf8.index(after: colon)...]
        // A host must directly follow the `//` after the scheme, because later text, such as a path, can
        // contain another URI.
        guard rest.starts(with: "//".utf8) else { return String(text[..<colon]) }
        let host = rest.dropFirst(2).prefix { $0 != UInt8(ascii: "/") && $0 != UInt8(ascii: "?") }
        return String(Substring(host))
    }
}

/// A loopback URI, split at its port (RFC 8252 §7.3).
///
/// Only the two literal addresses and `localhost` are accepted. Other spellings of an address are refused,
/// because another parser could read them differently. `localhost` can be configured to another address on
/// the machine, so it only matches if it is registered, and the registration decides whether it is allowed.
struct LoopbackAddress: Equatable {
    /// `http://127.0.0.1`, `http://[::1]` or `http://localhost`.
    private let origin: [UInt8]
    let port: UInt16?
    /// The path and query, both optional.
    let rest: [UInt8]

    private static let localhost = Array("http://localhost".utf8)
    private static let origins = ["http://127.0.0.1", "http://[::1]"].map { Array($0.utf8) } + [localhost]

    /// Returns `nil` unless the URI has one of the `origins`. A port must be a decimal number from 1 to
    /// 65535.
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
        // Otherwise http://127.0.0.1.example.com and http://127.0.0.1@example.com would count as loopback
        // addresses.
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

    /// Reads a port. Only one spelling of each number is accepted, so a port with a leading zero does not
    /// match.
    static func port(_ digits: some Collection<UInt8>) -> UInt16? {
        guard (1...5).contains(digits.count), digits.first != UInt8(ascii: "0"), digits.allSatisfy(\.isDigit)
        else { return nil }
        return UInt16(String(decoding: digits, as: UTF8.self))
    }
}
