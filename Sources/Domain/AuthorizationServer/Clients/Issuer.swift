import Encodings

/// The issuer identifier of this authorization server (RFC 8414 §2): an origin without a path.
///
/// Clients compare the issuer byte for byte, so the service stores and sends it exactly as configured.
public struct Issuer: Sendable, Hashable, CustomStringConvertible {
    public let text: String

    /// Throws `.issuerMalformed`, or `.issuerNotSecure` for `http` outside development.
    public init(_ text: String, isDevelopment: Bool) throws(OAuthMistake) {
        let bytes = Array(text.utf8)
        let isSecure = bytes.starts(with: "https://".utf8)
        let authority = bytes.dropFirst(isSecure ? 8 : 7)
        guard isSecure || bytes.starts(with: "http://".utf8), Self.isAuthority(authority), bytes.count <= 255
        else {
            throw OAuthMistake(
                .issuerMalformed, at: "oauth.issuer",
                "must be an origin like https://accounts.example.com, in lowercase and without a path or a slash "
                    + "at its end, but is \(text); set oauth.issuer, or SIWA_PUBLIC_URL without a path")
        }
        guard isSecure || isDevelopment else {
            throw OAuthMistake(
                .issuerNotSecure, at: "oauth.issuer",
                "must be https, because clients send secrets there, but is \(text); http is possible only with "
                    + "SIWA_ENV=development")
        }
        self.text = text
    }

    public var description: String { text }

    /// Returns the URL of an endpoint.
    ///
    /// - Parameter path: A path that begins with a slash.
    public func url(_ path: String) -> String { text + path }

    /// The host name, without a port.
    public var host: String {
        let authority = text.utf8.drop { $0 != UInt8(ascii: "/") }.dropFirst(2)
        // Only an IPv6 address contains colons, and it is enclosed in brackets.
        let end =
            authority.first == UInt8(ascii: "[")
            ? authority.firstIndex(of: UInt8(ascii: "]")).map { authority.index(after: $0) }
            : authority.firstIndex(of: UInt8(ascii: ":"))
        return String(Substring(authority[..<(end ?? authority.endIndex)]))
    }

    public static func == (lhs: Self, rhs: Self) -> Bool { lhs.text.isByteEqual(to: rhs.text) }

    private static func isAuthority(_ authority: ArraySlice<UInt8>) -> Bool {
        var host = authority
        if let colon = authority.lastIndex(of: UInt8(ascii: ":")),
            !authority[colon...].contains(UInt8(ascii: "]"))
        {
            guard LoopbackAddress.port(authority[(colon + 1)...]) != nil else { return false }
            host = authority[..<colon]
        }
        if host.first == UInt8(ascii: "["), host.last == UInt8(ascii: "]") {
            let address = host.dropFirst().dropLast()
            return !address.isEmpty
                && address.allSatisfy { byte in
                    byte.isDigit || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
                        || byte == UInt8(ascii: ":")
                }
        }
        return !host.isEmpty
            && host.allSatisfy { byte in
                byte.isLowercaseLetter || byte.isDigit || "-._".utf8.contains(byte)
            }
    }
}
