import AppleAccounts
import Synchronization

/// Bounds the rows of challenges whose proofs failed: any caller can send such proofs.
///
/// Past the bound the challenge of a failed proof is not stored. The proof is refused as before; a second
/// attempt with its challenge gains nothing, because each attempt needs a valid signature.
final class FailedChallenges: Sendable {
    /// For each process.
    static let mostInWindow = 100_000
    /// In milliseconds. A challenge is kept for as long.
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
