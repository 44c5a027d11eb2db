import AppleAccounts
import AppleIdentity

extension SignInUseCases {
    /// Milliseconds that the clocks of two replicas may differ, and a second for the token's whole ones.
    static let longestClockDifference: Int64 = 301_000

    /// Mints a nonce for one sign-in. Waits for nothing and stores nothing: it is used up in the sign-in's own transaction.
    public func mintNonce() -> MintedNonce {
        nonces.mint(
            expiresAt: now().advanced(byMilliseconds: nonceLifetime.components.seconds * 1000))
    }

    /// The nonce that a sign-in has to use up, or must not find used.
    func nonce(of verified: VerifiedIdentity, posted: String?) -> SignInNonce? {
        let end = Moment(seconds: verified.expiresAt.secondsSince1970)
        return SignInNonce(
            posted: posted, claim: verified.nonce, mint: nonces,
            keptUntil: end.advanced(byMilliseconds: leeway * 1000 + Self.longestClockDifference))
    }
}
