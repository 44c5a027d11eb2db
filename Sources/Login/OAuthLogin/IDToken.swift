import Cryptography
import Encodings
import JOSE
import StrictJSON

/// An ID token as received, before any check (OpenID Connect Core §2).
struct IDToken: Sendable {
    let algorithm: String
    let keyID: String?
    let issuer: String
    let subject: String
    let audience: [String]
    let expiresAt: Int64
    let nonce: String?
    let authorizedParty: String?
    let accessTokenHash: String?
    let segments: JWSSegments

    /// Parses a token. Throws `.idTokenRefused` unless the text is a compact JWS with the required claims.
    init(parsing compact: String) throws(LoginError) {
        guard let segments = JWSSegments(compact: compact),
            let header = try? JSONValue(parsing: segments.header),
            let claims = try? JSONValue(
                parsing: segments.payload, limits: JSONLimits(depth: 16, members: 128)),
            let algorithm = header["alg"]?.string, header["crit"] == nil
        else { throw LoginError(.idTokenRefused, "the ID token must be a signed JWT, and it is not") }
        guard let issuer = claims["iss"]?.string, let subject = claims["sub"]?.string, !subject.isEmpty,
            subject.utf8.count <= 255, let expiresAt = claims["exp"]?.integer, claims["iat"]?.integer != nil,
            let audience = Self.audience(claims["aud"])
        else { throw LoginError(.idTokenRefused, "the ID token must have iss, sub, aud, exp and iat") }
        self.segments = segments
        (self.algorithm, keyID) = (algorithm, header["kid"]?.string)
        (self.issuer, self.subject, self.audience, self.expiresAt) = (issuer, subject, audience, expiresAt)
        nonce = claims["nonce"]?.string
        authorizedParty = claims["azp"]?.string
        accessTokenHash = claims["at_hash"]?.string
    }

    private static func audience(_ value: JSONValue?) -> [String]? {
        if let one = value?.string { return [one] }
        guard let array = value?.array else { return nil }
        let strings = array.compactMap(\.string)
        return strings.count == array.count && !strings.isEmpty ? strings : nil
    }
}

/// Checks an ID token that comes directly from the token endpoint (OpenID Connect Core §3.1.3.7).
struct IDTokenCheck {
    let issuer: String
    let clientID: String
    /// The request's nonce; `nil` for a refresh, because the server need not repeat the nonce (§12.2).
    let nonce: String?
    let accessToken: String
    /// The sign-in's `sub`, which a refresh must repeat (§12.2).
    var subject: String?

    /// Tolerated clock skew, in seconds.
    static let leeway: Int64 = 60

    /// Throws `.idTokenRefused` unless the token passes every check. `now` is in seconds since 1970.
    func check(_ token: IDToken, at now: Int64) throws(LoginError) {
        guard token.issuer.isByteEqual(to: issuer) else {
            throw refusal("iss must be \(issuer), but it is \(token.issuer.forTerminal())")
        }
        guard token.audience.contains(where: { $0.isByteEqual(to: clientID) }) else {
            throw refusal("aud must contain this client")
        }
        // Rules 4 and 5: a token with several audiences must name the authorized party.
        if token.audience.count > 1 || token.authorizedParty != nil {
            guard token.authorizedParty?.isByteEqual(to: clientID) == true else {
                throw refusal("azp must be this client")
            }
        }
        guard token.expiresAt > now - Self.leeway else {
            throw refusal("it has expired; check the clock of this machine")
        }
        if let nonce, token.nonce?.isByteEqual(to: nonce) != true {
            throw refusal("nonce must be the one of this sign-in")
        }
        if let subject, !token.subject.isByteEqual(to: subject) {
            throw refusal("sub must be the user who signed in")
        }
        if let hash = token.accessTokenHash, usesSHA256(token) {
            let expected = Base64URL.encode(SHA256Digest.hash(accessToken).prefix(16))
            guard hash.isByteEqual(to: expected) else {
                throw refusal("at_hash must be that of the access token")
            }
        }
    }

    /// Returns true if the token's signature, and therefore `at_hash`, uses SHA-256 (§3.1.3.6).
    private func usesSHA256(_ token: IDToken) -> Bool { token.algorithm.hasSuffix("256") }

    private func refusal(_ words: String) -> LoginError {
        LoginError(.idTokenRefused, "the ID token is refused: \(words)")
    }
}

/// Verifies an ID token's signature with the server's key set.
///
/// OpenID Connect Core §3.1.3.7, rule 6, allows a client that receives the token directly from the token
/// endpoint to rely on TLS instead. So this check accepts a token whose algorithm it does not implement, and
/// returns `unchecked`. If it implements the algorithm, the signature must be valid.
enum IDTokenSignature {
    enum Verdict: Equatable {
        case verified
        /// The signature was not verified, so only TLS protects the token.
        case unchecked
    }

    /// Returns true if this check implements the token's algorithm, and so needs the key set.
    static func isVerifiable(_ token: IDToken) -> Bool { ["RS256", "ES256"].contains(token.algorithm) }

    /// Checks the signature. Throws `.idTokenRefused` for a wrong signature, for an unknown key, and for
    /// `none`.
    static func check(_ token: IDToken, keySet: [UInt8]) throws(LoginError) -> Verdict {
        guard token.algorithm.lowercased() != "none", !token.segments.signature.isEmpty else {
            throw LoginError(.idTokenRefused, "the ID token is refused: it has no signature")
        }
        let isRight: Bool
        switch token.algorithm {
        case "RS256":
            isRight = try rsaKeys(for: token, in: keySet).contains { key in
                key.isValidSignature(token.segments.signature, for: token.segments.signingInput[...])
            }
        case "ES256":
            isRight = try ecKeys(for: token, in: keySet).contains { key in
                key.isValidSignature(token.segments.signature, for: token.segments.signingInput[...])
            }
        default: return .unchecked
        }
        guard isRight else {
            throw LoginError(
                .idTokenRefused, "the ID token is refused: no key of the server's key set has signed it")
        }
        return .verified
    }

    private static func rsaKeys(for token: IDToken, in keySet: [UInt8]) throws(LoginError) -> [RSAPublicKey] {
        let set: JSONWebKeySet
        do throws(JOSEError) {
            set = try JSONWebKeySet(parsing: keySet)
        } catch {
            throw LoginError(.idTokenRefused, "the server's key set cannot be read")
        }
        let ids = token.keyID.map { [$0] } ?? set.keyIDs
        return ids.compactMap { set.key(for: $0) }
    }

    private static func ecKeys(for token: IDToken, in keySet: [UInt8]) throws(LoginError) -> [ECPublicKey] {
        guard let keys = try? JSONValue(parsing: keySet), let entries = keys["keys"]?.array else {
            throw LoginError(.idTokenRefused, "the server's key set cannot be read")
        }
        return entries.compactMap { entry in
            guard entry["kty"]?.string == "EC", entry["crv"]?.string == "P-256",
                entry["use"] == nil || entry["use"]?.string == "sig",
                token.keyID == nil || entry["kid"]?.string?.isByteEqual(to: token.keyID ?? "") == true,
                let x = entry["x"]?.string.flatMap({ Base64URL.decode($0) }),
                let y = entry["y"]?.string.flatMap({ Base64URL.decode($0) })
            else { return nil }
            return try? ECPublicKey(x: x, y: y)
        }
    }
}
