import AppAttestation
public import AppleAccounts
import Cryptography
import Synchronization

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
    /// - Throws: `challenge_invalid` for a text that is not a challenge for this purpose and app, and
    ///   `challenge_expired`. Neither error consumes a challenge.
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

    /// Returns `true` for a challenge of this purpose and app, even if it has expired.
    func isChallenge(_ text: String, _ purpose: AppAttestChallenge.Purpose, for app: AppID) -> Bool {
        texts.expiry(of: text, boundTo: Self.context(purpose, app)) != nil
    }

    private static func context(_ purpose: AppAttestChallenge.Purpose, _ app: AppID) -> [UInt8] {
        Array("\(purpose.rawValue) \(app.text)".utf8)
    }
}

/// A challenge for one attestation or one assertion. The app hashes its text, byte for byte in UTF-8.
public struct AppAttestChallenge: Sendable, Hashable {
    /// Distinguishes challenges from nonces.
    public static let prefix = "siwa-challenge-"
    /// Lifetime in milliseconds. Apple tells apps to retry an attestation
    /// with the same challenge while its servers are unavailable.
    static let lifetime: Int64 = 300_000

    /// A challenge of one purpose is never accepted for the other.
    public enum Purpose: String, Sendable, CaseIterable {
        case attestation, assertion
    }

    public let text: String
    public let expiresAt: Moment
}

/// Bounds the rows of challenges whose proofs failed: any caller can send such proofs.
///
/// Past the bound the challenge of a failed proof is not stored. The proof is refused as before; a second
/// attempt with its challenge gains nothing, because each attempt needs a valid signature.
final class FailedChallenges: Sendable {
    /// Largest number of challenges in a window, for each process.
    static let mostInWindow = 100_000
    /// Length of a window in milliseconds. A challenge is kept for this time.
    static let window = AppAttestChallenge.lifetime + SignInUseCases.longestClockDifference

    private let most: Int
    private let state = Mutex((begunAt: Moment(milliseconds: 0), count: 0))

    init(most: Int = mostInWindow) {
        self.most = most
    }

    /// Returns the challenge if it may be stored.
    func admit(_ challenge: UsedNonce, at moment: Moment) -> UsedNonce? {
        state.withLock { state in
            if moment >= state.begunAt.advanced(byMilliseconds: Self.window) { state = (moment, 0) }
            guard state.count < most else { return nil }
            state.count += 1
            return challenge
        }
    }
}
