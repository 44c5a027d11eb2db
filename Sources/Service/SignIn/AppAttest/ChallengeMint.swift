import AppAttestation
public import AppleAccounts
import Cryptography
import Synchronization

/// Makes and reads App Attest challenges. Each challenge is bound to a purpose and an app.
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

    /// Returns the challenge for the transaction, which consumes it. Its row is kept until the challenge has
    /// expired by every replica's clock.
    ///
    /// - Throws: `challenge_invalid` for a string that is not a challenge for this purpose and app;
    ///   `challenge_expired`. In both cases no challenge is consumed.
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

    /// Returns `true` for a challenge for this purpose and app, even if the challenge has expired.
    func isChallenge(_ text: String, _ purpose: AppAttestChallenge.Purpose, for app: AppID) -> Bool {
        texts.expiry(of: text, boundTo: Self.context(purpose, app)) != nil
    }

    private static func context(_ purpose: AppAttestChallenge.Purpose, _ app: AppID) -> [UInt8] {
        Array("\(purpose.rawValue) \(app.text)".utf8)
    }
}

/// A challenge for one attestation or assertion. The app hashes the UTF-8 bytes of its text.
public struct AppAttestChallenge: Sendable, Hashable {
    /// A prefix that distinguishes challenges from nonces.
    public static let prefix = "siwa-challenge-"
    /// Lifetime in milliseconds. It is long, because apps should retry an attestation with the same challenge
    /// while Apple's servers are unavailable (Apple's documentation).
    static let lifetime: Int64 = 300_000

    /// The purpose of a challenge. A challenge for one purpose is invalid for the other purpose.
    public enum Purpose: String, Sendable, CaseIterable {
        case attestation, assertion
    }

    public let text: String
    public let expiresAt: Moment
}

/// Bounds the number of challenges that are stored for failed proofs, because any caller can send such
/// proofs.
///
/// Above the bound, a failed proof is still refused, but its challenge is not stored. Repeating the challenge
/// does not help an attacker, because each attempt needs a valid signature.
final class FailedChallenges: Sendable {
    /// Maximum number of challenges per window, in each process.
    static let mostInWindow = 100_000
    /// Window length in milliseconds. A challenge is stored for the same time.
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
