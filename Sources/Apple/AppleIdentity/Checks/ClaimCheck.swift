import Encodings

/// A requirement on a token's claims. Checks have no side effects and read no clock.
protocol ClaimCheck: Sendable {
    associatedtype Claims

    /// Returns normally if the claims meet the requirement. Otherwise throws the only error code for this
    /// violation.
    func check(_ claims: Claims, at now: NumericDate) throws(AppleTokenError)
}

/// Handles a violation: throws it, or records it so that the next check can run.
typealias Refusing = (AppleTokenError) throws(AppleTokenError) -> Void

extension ClaimCheck {
    @inline(__always)
    func check(
        _ claims: Claims, at now: NumericDate, refusing refuse: Refusing
    ) throws(AppleTokenError) {
        do throws(AppleTokenError) { try check(claims, at: now) } catch { try refuse(error) }
    }
}

/// Refuses a token from another issuer (OpenID Connect Core §3.1.3.7, rule 2).
struct IssuerCheck<Claims: AppleClaims>: ClaimCheck {
    let issuers: [String]

    func check(_ claims: Claims, at now: NumericDate) throws(AppleTokenError) {
        for issuer in issuers where issuer.isByteEqual(to: claims.issuer) { return }
        throw AppleTokenError(.issuerMismatch, detail: "iss=\(claims.issuer)")
    }
}

/// Refuses a token issued for another app (OpenID Connect Core §3.1.3.7, rule 3).
struct AudienceCheck<Claims: AppleClaims>: ClaimCheck {
    private let clientIDs: Set<ByteString>

    init(clientIDs: [String]) {
        self.clientIDs = Set(clientIDs.map(ByteString.init))
    }

    func check(_ claims: Claims, at now: NumericDate) throws(AppleTokenError) {
        // Apple sends exactly one audience, as a string, so a token with an array is not Apple's.
        guard case .one(let audience) = claims.audience, clientIDs.contains(ByteString(audience)) else {
            throw AppleTokenError(.audienceMismatch, detail: "aud=\(claims.audience)")
        }
    }
}

/// A string that is hashed and compared as bytes, because Apple treats two Unicode spellings of "é" as
/// different strings.
private struct ByteString: Hashable {
    let string: String

    init(_ string: String) {
        self.string = string
    }

    static func == (lhs: Self, rhs: Self) -> Bool { lhs.string.isByteEqual(to: rhs.string) }

    func hash(into hasher: inout Hasher) {
        var string = string
        string.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
    }
}

/// Refuses a token for a client ID other than the caller's. Runs in addition to `AudienceCheck`.
struct RequestedClientIDCheck: ClaimCheck {
    let clientID: String

    func check(_ claims: IdentityTokenClaims, at now: NumericDate) throws(AppleTokenError) {
        guard case .one(let audience) = claims.audience, audience.isByteEqual(to: clientID) else {
            throw AppleTokenError(.audienceMismatch, detail: "aud=\(claims.audience)")
        }
    }
}

/// Refuses a `sub` that cannot identify an account, because it is empty, longer than 255 characters (OpenID
/// Connect Core §2), or has control characters.
///
/// The format is not checked, because Apple promises only "a unique, stable string".
struct SubjectCheck: ClaimCheck {
    static let longestSubject = 255

    func check(_ claims: IdentityTokenClaims, at now: NumericDate) throws(AppleTokenError) {
        guard Self.isValid(claims.subject) else { throw AppleTokenError(.subjectInvalid) }
    }

    static func isValid(_ subject: String) -> Bool {
        var subject = subject
        return subject.withUTF8 { bytes in
            var length = 0
            var previous: UInt8 = 0
            for byte in bytes {
                // Control characters are C0 and DEL, and C1, which UTF-8 encodes as C2 80 to C2 9F.
                if byte < 0x20 || byte == 0x7F || (previous == 0xC2 && byte < 0xA0) { return false }
                // Every byte that is not a continuation byte begins a character.
                if byte & 0xC0 != 0x80 { length += 1 }
                previous = byte
            }
            return (1...longestSubject).contains(length)
        }
    }
}
