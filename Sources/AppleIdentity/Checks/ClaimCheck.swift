/// One requirement on the claims of a token: pure, and without a clock of its own.
protocol ClaimCheck: Sendable {
    associatedtype Claims

    /// Returns when the claims meet the requirement; throws the one code that names its violation.
    func check(_ claims: Claims, at now: NumericDate) throws(AppleTokenError)
}
