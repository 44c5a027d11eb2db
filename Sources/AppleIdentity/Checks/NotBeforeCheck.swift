/// Refuses a token before `nbf` minus the leeway (RFC 7519 §4.1.5). A token without `nbf` passes.
struct NotBeforeCheck<Claims: AppleClaims>: ClaimCheck {
    /// Seconds.
    let leeway: Int64

    func check(_ claims: Claims, at now: NumericDate) throws(AppleTokenError) {
        guard let moment = claims.notBefore else { return }
        guard moment.secondsSince1970 <= now.secondsSince1970 + leeway else {
            throw AppleTokenError(.tokenNotYetValid, detail: "nbf=\(moment.secondsSince1970)")
        }
    }
}
