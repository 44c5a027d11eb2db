import AppAttestation
import AppleAccounts
import Cryptography

/// Makes challenges of App Attest, and reads them. A challenge is bound to its purpose and to an app.
struct ChallengeMint: Sendable {
    private let texts: ExpiringText

    init(key: NonceKey) {
        texts = ExpiringText(prefix: AppAttestChallenge.prefix, key: key)
    }

    func mint(
        _ purpose: AppAttestChallenge.Purpose, for app: AppID, expiresAt: Moment
    ) -> AppAttestChallenge {
        AppAttestChallenge(
            text: texts.make(expiresAt: expiresAt, boundTo: Self.context(purpose, app)), expiresAt: expiresAt)
    }

    /// Returns the challenge to consume. It is kept until it has expired by the clock of every replica.
    ///
    /// - Throws: `challenge_invalid` for a text that is no challenge for this purpose and app, and
    ///   `challenge_expired`. Neither is consumed.
    func challenge(
        _ text: String, _ purpose: AppAttestChallenge.Purpose, for app: AppID, at moment: Moment
    ) throws(ProofFault) -> UsedNonce {
        guard let expiry = texts.expiry(of: text, boundTo: Self.context(purpose, app)) else {
            throw ProofFault(.challengeInvalid)
        }
        guard moment < expiry else { throw ProofFault(.challengeExpired) }
        return UsedNonce(
            digest: NonceDigest(SHA256Digest.hash(text)),
            keptUntil: expiry.advanced(byMilliseconds: SignInUseCases.longestClockDifference))
    }

    /// True for a challenge of this purpose and app, also an expired one.
    func isChallenge(_ text: String, _ purpose: AppAttestChallenge.Purpose, for app: AppID) -> Bool {
        texts.expiry(of: text, boundTo: Self.context(purpose, app)) != nil
    }

    private static func context(_ purpose: AppAttestChallenge.Purpose, _ app: AppID) -> [UInt8] {
        Array("\(purpose.rawValue) \(app.text)".utf8)
    }
}
