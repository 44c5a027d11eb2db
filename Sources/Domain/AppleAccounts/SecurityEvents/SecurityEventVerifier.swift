public import Encodings
public import JOSE
public import StrictJSON

/// Verifies security event tokens that are signed as this service
/// signs its own: with ES256 or RS256, and the `typ` `secevent+jwt`.
///
/// Google's tokens have no `typ`, so `GoogleEventToken` verifies Google's tokens.
public struct SecurityEventVerifier: Sendable {
    public let issuer: String
    public let audiences: [String]

    public init(issuer: String, audiences: [String]) {
        (self.issuer, self.audiences) = (issuer, audiences)
    }

    /// - Parameters:
    ///   - key: The issuer's current key with this ID.
    ///   - now: Seconds since 1970.
    public func verify(
        _ token: String, at now: Int64, key: (String) -> TokenVerificationKey?
    ) throws(SecurityEventError) -> SecurityEventClaims {
        // Checking `typ` excludes ID tokens and access tokens from the same issuer (RFC 8417 §4.6).
        guard let jws = try? TypedJWS(parsing: Array(token.utf8)),
            let type = jws.type?.lowercased(),
            [SecurityEventToken.type.description, SecurityEventToken.mediaType].contains(type)
        else {
            throw SecurityEventError(.invalidRequest, "The body must be one signed JWT of type secevent+jwt.")
        }
        guard let key = key(jws.keyID), jws.isSigned(by: key) else {
            throw SecurityEventError(.invalidKey, "The signature is not by a current key of the issuer.")
        }
        guard let claims = (try? JSONValue(parsing: jws.payload))?.object else {
            throw SecurityEventError(.invalidRequest, "The claims must be a JSON object.")
        }
        return try SecurityEventClaims(claims, issuer: issuer, audiences: audiences, at: now)
    }
}

/// The claims of a security event token from another issuer (RFC 8417 §2.2), read strictly.
public struct SecurityEventClaims: Sendable {
    /// Maximum number of events in a token. Real issuers send one.
    public static let mostEvents = 16
    /// Checks times with a leeway of one minute, because the issuer's clock may differ from ours.
    public static let times = TokenTimeCheck(leeway: 60)

    public let id: String
    /// Time of issue in seconds since 1970.
    public let issuedAt: Int64
    /// Event URIs, with the contents of the events.
    public let events: JSONObject

    /// Checks the issuer, audience, times and form, in this order.
    ///
    /// - Parameters:
    ///   - audiences: Accepted audiences. The token's audiences must include at least one of them.
    ///   - now: Seconds since 1970.
    public init(
        _ claims: JSONObject, issuer: String, audiences: [String], at now: Int64
    ) throws(SecurityEventError) {
        guard claims["iss"]?.string?.isByteEqual(to: issuer) ?? false else {
            throw SecurityEventError(.invalidIssuer, "iss must be \(issuer).")
        }
        guard
            Self.audiences(of: claims).contains(where: { name in audiences.contains(where: name.isByteEqual) }
            )
        else {
            throw SecurityEventError(.invalidAudience, "aud names no audience of this receiver.")
        }
        guard let id = Self.name(claims["jti"]), let issuedAt = Self.seconds(claims["iat"]),
            Self.times.isPast(issuedAt, at: now), Self.isValid(claims["nbf"], at: now),
            let events = claims["events"]?.object, (1...Self.mostEvents).contains(events.members.count)
        else {
            throw SecurityEventError(
                .invalidRequest,
                "jti, iat and events must be there, and iat and nbf must not be in the future.")
        }
        (self.id, self.issuedAt, self.events) = (id, issuedAt, events)
    }

    /// Returns a token's audiences, from a string or an array.
    public static func audiences(of claims: JSONObject) -> [String] {
        switch claims["aud"] {
        case .string(let text): [text]
        case .array(let values): values.compactMap(\.string)
        case nil, .null, .bool, .integer, .number, .object: []
        }
    }

    private static func name(_ value: JSONValue?) -> String? {
        guard let text = value?.string, (1...255).contains(text.utf8.count), !text.hasControlCharacters else {
            return nil
        }
        return text
    }

    /// Reads seconds, limited to the years 1970 to 9999 so that arithmetic cannot overflow.
    private static func seconds(_ value: JSONValue?) -> Int64? {
        guard let seconds = value?.integer, (0...253_402_300_799).contains(seconds) else { return nil }
        return seconds
    }

    /// Returns true if there is no `nbf`. A value that is not a time makes the token invalid.
    private static func isValid(_ notBefore: JSONValue?, at now: Int64) -> Bool {
        guard let notBefore else { return true }
        guard let seconds = seconds(notBefore) else { return false }
        return times.isValid(notBefore: seconds, at: now)
    }
}

/// The reason why a security event token was refused (RFC 8935 §2.4).
public struct SecurityEventError: CodedError {
    /// The raw values are the codes in responses.
    public enum Code: String, Sendable, CaseIterable {
        case invalidRequest = "invalid_request"
        case invalidKey = "invalid_key"
        case invalidIssuer = "invalid_issuer"
        case invalidAudience = "invalid_audience"
    }

    public let code: Code
    /// Text for the sender. It quotes no part of the token.
    public let description: String

    public init(_ code: Code, _ description: String) {
        (self.code, self.description) = (code, description)
    }
}
