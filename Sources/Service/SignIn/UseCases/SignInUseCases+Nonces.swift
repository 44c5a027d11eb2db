import AppleAccounts
import AppleIdentity

extension SignInUseCases {
    /// Milliseconds by which the clocks of two replicas may differ, plus one second because the token's times
    /// are whole seconds.
    package static let longestClockDifference: Int64 = 301_000

    /// Makes a nonce for one sign-in. Does not wait and stores nothing: the nonce is used up in the
    /// transaction of the sign-in.
    public func mintNonce() -> MintedNonce {
        nonces.mint(
            expiresAt: now().advanced(byMilliseconds: nonceLifetime.components.seconds * 1000))
    }

    /// Refuses a sign-in without a nonce of this service, where the app demands one. A nonce of this service that
    /// was used or has expired is refused in the transaction.
    func demandMintedNonce(for verified: VerifiedSignIn, _ nonce: SignInNonce?) throws(NonceNotMinted) {
        guard verified.app.requiresMintedNonce else { return }
        switch nonce {
        case .minted, .unproven: break
        case .carried, nil: throw NonceNotMinted()
        }
    }

    /// Returns the nonce that a sign-in has to use up, or must not find used.
    func nonce(of verified: VerifiedIdentity, posted: String?) -> SignInNonce? {
        let end = Moment(seconds: verified.expiresAt.secondsSince1970)
        return SignInNonce(
            posted: posted, claim: verified.nonce, mint: nonces,
            keptUntil: end.advanced(byMilliseconds: leeway * 1000 + Self.longestClockDifference))
    }
}
