/// Refuses a `sub` that cannot identify an account: empty, longer than 255 characters (OpenID Connect Core
/// §2), or with control characters.
///
/// It does not check the format: Apple promises only "a unique, stable string".
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
                // C0 and DEL, and C1, which is C2 80 to C2 9F.
                if byte < 0x20 || byte == 0x7F || (previous == 0xC2 && byte < 0xA0) { return false }
                // Every byte except a continuation byte begins a character.
                if byte & 0xC0 != 0x80 { length += 1 }
                previous = byte
            }
            return (1...longestSubject).contains(length)
        }
    }
}
