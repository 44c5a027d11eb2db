extension OAuthError {
    /// Everything that can be wrong with a code or a refresh token. The client is not told what, because an
    /// attacker who tries codes would learn from it.
    public static let invalidGrant = OAuthError(
        .invalidGrant, "The code or token is wrong, expired, used or revoked; start a new authorization.")
}
