import Encodings

/// Refuses a token that was issued for another app (OpenID Connect Core §3.1.3.7, rule 3).
struct AudienceCheck<Claims: AppleClaims>: ClaimCheck {
    private let clientIDs: Set<ByteString>

    init(clientIDs: [String]) {
        self.clientIDs = Set(clientIDs.map(ByteString.init))
    }

    func check(_ claims: Claims, at now: NumericDate) throws(AppleTokenError) {
        // Apple sends exactly one audience, as a string. An array means that the token is not Apple's.
        guard case .one(let audience) = claims.audience, clientIDs.contains(ByteString(audience)) else {
            throw AppleTokenError(.audienceMismatch, detail: "aud=\(claims.audience)")
        }
    }
}

/// A string that is hashed and compared as bytes: two Unicode spellings of "é" are different, as they are for
/// Apple.
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
