/// One requirement on the claims of a token. A check is pure and has no clock.
protocol ClaimCheck: Sendable {
    associatedtype Claims

    /// Returns when the claims meet the requirement; throws the one code that names the violation.
    func check(_ claims: Claims, at now: NumericDate) throws(AppleTokenError)
}
