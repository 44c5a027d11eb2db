import AppleAccounts
import AppleIdentity

extension SignInUseCases {
    /// Milliseconds that the clocks of two replicas may differ, and one second because the token's times are
    /// whole seconds.
    static let longestClockDifference: Int64 = 301_000

    /// Makes a nonce for one sign-in. Waits for nothing and stores nothing: the nonce is used up in the
    /// transaction of the sign-in.
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
