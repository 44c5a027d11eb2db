/// Refuses a `sub` that no account can be keyed on: empty, longer than 255 characters (OpenID Connect Core §2), or with
/// control characters.
///
/// It does not look at the form: Apple promises only "a unique, stable string".
struct SubjectCheck: ClaimCheck {
    static let longestSubject = 255

    func check(_ claims: IdentityTokenClaims, at now: NumericDate) throws(AppleTokenError) {
        guard Self.isValid(claims.subject) else { throw AppleTokenError(.subjectInvalid) }
    }

    static func isValid(_ subject: String) -> Bool {
        var length = 0
        for scalar in subject.unicodeScalars {
            length += 1
            // C0, DEL and C1.
            if scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value) { return false }
        }
        return (1...longestSubject).contains(length)
    }
}
