public import AppleAccounts
public import Encodings

extension WebSignIn {
    /// The URLs of web sign-ins. The service redirects browsers only to these URLs and never to a URL from a
    /// request, so there is no open redirect.
    public struct Settings: Sendable {
        /// The return URL, as registered at Apple.
        public let callbackURL: String
        public let redirectURLs: [ClientID: String]
        public let authorizeURL: String
        let finishURL: String
        /// True if browsers use TLS. Over plain HTTP, in development, a cookie cannot be `Secure`.
        public let isSecure: Bool

        /// - Parameters:
        ///   - publicURL: The URL at which browsers reach this service, without a query. It may contain a
        ///     path.
        ///   - redirectURLs: The URLs of the apps' own pages, by client ID (Services ID).
        ///   - authorizeURL: The URL of Apple's page.
        ///   - allowsPlainHTTP: True in development. Otherwise all URLs must use `https`.
        /// - Throws: `WebSettingsError` if a URL is malformed or insecure, or `redirectURLs` is empty.
        public init(
            publicURL: String, redirectURLs: [ClientID: String], authorizeURL: String,
            allowsPlainHTTP: Bool = false
        ) throws(WebSettingsError) {
            func isUsable(_ url: WebURL?) -> Bool { url.map { $0.isSecure || allowsPlainHTTP } ?? false }
            guard let service = WebURL(publicURL), isUsable(service), !service.hasQuery else {
                throw WebSettingsError(.publicURLMalformed, detail: publicURL)
            }
            guard !redirectURLs.isEmpty else { throw WebSettingsError(.redirectURLsMissing, detail: "") }
            for (clientID, url) in redirectURLs where !isUsable(WebURL(url)) {
                throw WebSettingsError(.redirectURLMalformed, detail: clientID.rawValue)
            }
            guard isUsable(WebURL(authorizeURL)) else {
                throw WebSettingsError(.authorizeURLMalformed, detail: authorizeURL)
            }
            let base = publicURL.hasSuffix("/") ? String(publicURL.dropLast()) : publicURL
            callbackURL = base + "/v1/web/callback"
            finishURL = base + "/v1/web/finish"
            isSecure = service.isSecure
            self.redirectURLs = redirectURLs
            self.authorizeURL = authorizeURL
        }

        /// Name of the web sign-in cookie. The `__Host-` prefix prevents other hosts of the same site from
        /// setting the cookie (RFC 6265bis §4.1.3.2).
        public var cookieName: String { isSecure ? "__Host-siwa_web" : "siwa_web" }

        func clientID(named name: String?) throws(UnknownClientID) -> ClientID {
            if let name {
                guard let clientID = ClientID(name), redirectURLs[clientID] != nil else {
                    throw UnknownClientID()
                }
                return clientID
            }
            // If there are several client IDs, the request must name one of them.
            guard redirectURLs.count == 1, let only = redirectURLs.keys.first else { throw UnknownClientID() }
            return only
        }
    }
}

/// The settings do not allow the web flow to work.
public struct WebSettingsError: CodedError {
    public enum Code: String, Sendable, CaseIterable {
        /// The public URL is not an `https` URL without query, fragment and user information.
        case publicURLMalformed
        /// A redirect URL is not an `https` URL without fragment and user information. The detail names its
        /// client ID.
        case redirectURLMalformed
        /// No client ID has a redirect URL.
        case redirectURLsMissing
        case authorizeURLMalformed
    }

    public let code: Code
    public let detail: String

    public init(_ code: Code, detail: String) { (self.code, self.detail) = (code, detail) }
}

extension WebSettingsError: CustomDebugStringConvertible {
    public var description: String { "web relay not configured: \(code.rawValue)" }
    public var debugDescription: String { "\(description) (\(detail))" }
}

/// An absolute `https` or `http` URL (RFC 3986) that a browser may be redirected to. It contains no user
/// information and no fragment, and is safe in a header.
struct WebURL {
    let isSecure: Bool
    let hasQuery: Bool

    private static let longest = 2048

    /// Returns `nil` unless the string is such a URL.
    init?(_ text: String) {
        guard text.utf8.count <= Self.longest, text.utf8.allSatisfy(Self.isAllowed) else { return nil }
        let rest: Substring
        if text.hasPrefix("https://") {
            (isSecure, rest) = (true, text.dropFirst(8))
        } else if text.hasPrefix("http://") {
            (isSecure, rest) = (false, text.dropFirst(7))
        } else {
            return nil
        }
        let authority = rest.prefix { $0 != "/" && $0 != "?" }
        guard Self.isAuthority(authority) else { return nil }
        hasQuery = rest.contains("?")
    }

    /// Returns true for a host with an optional port. `user@host` is refused, because users could mistake the
    /// user information for the host.
    private static func isAuthority(_ authority: Substring) -> Bool {
        guard !authority.contains("@") else { return false }
        var host = authority
        if let colon = authority.lastIndex(of: ":"), !authority[colon...].contains("]") {
            let port = authority[authority.index(after: colon)...]
            guard let number = UInt16(port), number > 0, port.utf8.allSatisfy({ $0 != UInt8(ascii: "+") })
            else { return false }
            host = authority[..<colon]
        }
        let isLiteral = host.hasPrefix("[") && host.hasSuffix("]") && host.utf8.count > 2
        return isLiteral || (!host.isEmpty && host.utf8.allSatisfy(isHostByte))
    }

    private static func isHostByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"):
            true
        default: false
        }
    }

    /// Returns true for printable ASCII, except `#` and the characters that RFC 3986 excludes.
    private static func isAllowed(_ byte: UInt8) -> Bool {
        guard byte > 0x20, byte < 0x7F else { return false }
        return !"\"#<>\\^`{|}".utf8.contains(byte)
    }
}
