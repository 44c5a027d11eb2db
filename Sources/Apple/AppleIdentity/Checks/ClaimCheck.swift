/// One requirement on the claims of a token. A check is pure and has no clock.
protocol ClaimCheck: Sendable {
    associatedtype Claims

    /// Returns when the claims meet the requirement; throws the one code that names the violation.
    func check(_ claims: Claims, at now: NumericDate) throws(AppleTokenError)
}

/// Throws the violation, or notes it and lets the next check run.
typealias Refusing = (AppleTokenError) throws(AppleTokenError) -> Void

extension ClaimCheck {
    @inline(__always)
    func check(
        _ claims: Claims, at now: NumericDate, refusing refuse: Refusing
    ) throws(AppleTokenError) {
        do throws(AppleTokenError) { try check(claims, at: now) } catch { try refuse(error) }
    }
}
