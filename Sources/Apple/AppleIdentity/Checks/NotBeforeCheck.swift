import JOSE

/// Refuses a token before `nbf` minus the leeway (RFC 7519 §4.1.5). A token without `nbf` passes.
struct NotBeforeCheck<Claims: AppleClaims>: ClaimCheck {
    /// Seconds.
    let leeway: Int64

    func check(_ claims: Claims, at now: NumericDate) throws(AppleTokenError) {
        let notBefore = claims.notBefore?.secondsSince1970
        guard TokenTimeCheck(leeway: leeway).isValid(notBefore: notBefore, at: now.secondsSince1970) else {
            throw AppleTokenError(.tokenNotYetValid, detail: "nbf=\(notBefore ?? 0)")
        }
    }
}
