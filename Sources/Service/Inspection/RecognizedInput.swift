package import AppAttestation
import AppleAccounts
package import AppleIdentity
import AuthorizationServer
import Encodings
import StrictJSON

/// The kind of a token, code or object, recognized from its text. Recognition verifies nothing, because each
/// kind has its own checks.
package enum RecognizedInput: Sendable, Equatable {
    case inspected(InspectedKind)
    /// A token signed by Google.
    case google(GoogleTokenKind)
    /// A client secret, which authenticates this service to Apple.
    case clientSecret
    /// A code or an opaque token from Apple, which only Apple can check.
    case opaque(OpaqueAppleKind)
    case unknown

    /// - Parameters:
    ///   - issuers: The issuers of this service's tokens.
    ///   - googleIssuers: The issuers of Google's tokens.
    package init(_ text: String, issuers: [String], googleIssuers: [String]) {
        if let kind = Self.ownKind(of: text) {
            self = .inspected(.issued(kind))
        } else if let claims = Self.part(1, of: text) {
            self = Self.token(Self.part(0, of: text), claims, issuers: issuers, googleIssuers: googleIssuers)
        } else if text.split(separator: ".", omittingEmptySubsequences: false).count == 3 {
            // The text is probably a malformed token. The check of its form will name the fault.
            self = .inspected(.token(.identityToken))
        } else if let kind = OpaqueAppleKind(text) {
            self = .opaque(kind)
        } else if let kind = Self.object(text) {
            self = .inspected(.object(kind))
        } else {
            self = .unknown
        }
    }

    private static func ownKind(of text: String) -> IssuedTokenKind? {
        if text.hasPrefix(AuthorizationCodeKind.prefix) { return .authorizationCode }
        if text.hasPrefix(DeviceCodeKind.prefix) { return .deviceCode }
        if text.hasPrefix("siwa_rt_") { return .refreshToken }
        return UserCode(entered: text) == nil ? nil : .userCode
    }

    private static func token(
        _ header: JSONObject?, _ claims: JSONObject, issuers: [String], googleIssuers: [String]
    ) -> RecognizedInput {
        let type = header?["typ"]?.string?.lowercased() ?? ""
        let issuer = claims["iss"]?.string ?? ""
        if type == "at+jwt" || type == "application/at+jwt" { return .inspected(.issued(.accessToken)) }
        if googleIssuers.contains(where: issuer.isByteEqual) {
            return .google(claims["events"] == nil ? .idToken : .securityEvent)
        }
        if type == "secevent+jwt" || type == "application/secevent+jwt" {
            return .inspected(.issued(.securityEvent))
        }
        if issuers.contains(where: issuer.isByteEqual) { return .inspected(.issued(.idToken)) }
        if claims["events"] != nil { return .inspected(.token(.notification)) }
        // A client secret's issuer is a team ID, not a URL.
        if issuer.utf8.count == 10, claims["aud"]?.string == VerificationPolicy.appleIssuer {
            return .clientSecret
        }
        return .inspected(.token(.identityToken))
    }

    /// Returns a part of a token as an object; `nil` if the text is not a token.
    private static func part(_ index: Int, of text: String) -> JSONObject? {
        let segments = text.split(separator: ".", omittingEmptySubsequences: false)
        guard (3...5).contains(segments.count), let bytes = Base64URL.decode(String(segments[index])) else {
            return nil
        }
        return (try? JSONValue(parsing: bytes))?.object
    }

    /// Recognizes an App Attest object: a CBOR map with three entries in an attestation, and two entries in
    /// an assertion.
    private static func object(_ text: String) -> AppAttestationKind? {
        let text = text.filter { !$0.isWhitespace }
        guard let bytes = Base64.decode(text) ?? Base64URL.decode(text), bytes.count > 32 else { return nil }
        switch bytes[0] {
        case 0xA3: return .attestation
        case 0xA2: return .assertion
        case _: return nil
        }
    }
}

/// A kind of token that Google sends.
package enum GoogleTokenKind: String, Sendable, CaseIterable {
    case idToken = "google-id-token"
    case securityEvent = "google-security-event"
}

/// A kind of value that Apple issues without a signature. Only Apple can check it.
package enum OpaqueAppleKind: String, Sendable, CaseIterable {
    case authorizationCode = "apple-authorization-code"
    case refreshToken = "apple-refresh-token"
    case accessToken = "apple-access-token"

    /// Recognizes Apple's values, which begin with a letter and 32 hexadecimal digits, and contain dots.
    /// Apple does not document this format.
    init?(_ text: String) {
        let start = text.dropFirst().prefix { $0 != "." }
        guard start.utf8.count == 32, start.utf8.allSatisfy(\.isHexadecimalDigit), text.contains(".") else {
            return nil
        }
        switch text.first {
        case "c": self = .authorizationCode
        case "r": self = .refreshToken
        case "a": self = .accessToken
        case _: return nil
        }
    }
}

extension UInt8 {
    fileprivate var isHexadecimalDigit: Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self)
            || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(self)
    }
}

/// A kind of token, object or code that can be inspected.
package enum InspectedKind: Equatable, Sendable {
    case token(TokenKind)
    case object(AppAttestationKind)
    case issued(IssuedTokenKind)

    package static let all =
        TokenKind.allCases.map(Self.token) + AppAttestationKind.allCases.map(Self.object)
        + IssuedTokenKind.allCases.map(Self.issued)

    /// The kind's name in command options and reports.
    package var name: String {
        switch self {
        case .token(let kind): kind.rawValue
        case .object(let kind): kind.rawValue
        case .issued(let kind): kind.rawValue
        }
    }

    /// Returns `nil` for an unknown name.
    package init?(name: String) {
        guard let kind = Self.all.first(where: { $0.name == name }) else { return nil }
        self = kind
    }
}

/// A kind of token or code that this service issues.
package enum IssuedTokenKind: String, Sendable, CaseIterable {
    case accessToken = "access-token"
    case idToken = "id-token"
    case refreshToken = "refresh-token"
    /// A report to Google about an ended refresh token.
    case securityEvent = "security-event"
    case authorizationCode = "authorization-code"
    case deviceCode = "device-code"
    /// The code that a device displays for its user.
    case userCode = "user-code"

    /// The checks for this kind, in the order in which they run.
    package var checks: [IssuedTokenCheck] {
        switch self {
        case .accessToken:
            [.form, .type, .key, .signature, .claims, .issuer, .audience, .expiration, .family]
        case .idToken:
            [
                .form, .type, .key, .signature, .claims, .issuer, .audience, .expiration, .nonce,
                .accessTokenHash,
            ]
        case .refreshToken: [.form, .family]
        case .authorizationCode, .deviceCode, .userCode: [.form, .code]
        case .securityEvent: [.form, .type, .key, .signature, .claims, .issuer, .audience]
        }
    }

    /// The header's `typ` in lower case; `nil` for a token without a header.
    var type: String? {
        switch self {
        case .accessToken: AccessToken.type.description.lowercased()
        case .idToken: IDToken.type.description.lowercased()
        case .refreshToken, .authorizationCode, .deviceCode, .userCode: nil
        case .securityEvent: SecurityEventToken.type.description.lowercased()
        }
    }

    /// The names of the required claims.
    var claims: [String] {
        switch self {
        case .accessToken:
            ["iss", "sub", "aud", "client_id", "iat", "exp", "auth_time", "jti", "scope"]
        case .idToken: ["iss", "sub", "aud", "iat", "exp", "auth_time", "at_hash"]
        case .refreshToken, .authorizationCode, .deviceCode, .userCode: []
        case .securityEvent: ["iss", "aud", "iat", "jti", "events"]
        }
    }

    /// True for a token or a code that is not signed and names no issuer.
    package var isOpaque: Bool { type == nil }
}
