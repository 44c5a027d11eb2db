/// A test event that a receiver has asked for, to learn that its stream works (OpenID Shared Signals Framework
/// §8.1.4). A receiver has one at most, so that requests fill no table.
public struct StreamVerification: Sendable, Hashable {
    /// Number of bytes that a state may have.
    public static let longestState = 1024
    /// Milliseconds between two requests for one receiver.
    public static let interval: Int64 = 60_000

    /// The `jti` of its token.
    public let id: EventID
    /// A text of the receiver's, which the event repeats.
    public let state: String?

    public init(id: EventID, state: String?) {
        (self.id, self.state) = (id, state)
    }
}

/// The answer to a request for a verification.
public enum VerificationRequestResult: Sendable, Hashable, CaseIterable {
    case accepted
    /// The last request is younger than `StreamVerification.interval`.
    case tooSoon
    /// The receiver is paused, so nothing is sent.
    case paused
    case unknownReceiver
}

extension ReceiverRecord {
    /// Accepts a request for a verification, which replaces one that was not sent yet, or refuses it.
    public mutating func request(
        _ verification: StreamVerification, at moment: Moment
    ) -> VerificationRequestResult {
        guard pausedAt == nil else { return .paused }
        // A clock that was set back must not refuse requests for ever.
        if let last = verificationAskedAt, last <= moment,
            moment < last.advanced(byMilliseconds: StreamVerification.interval)
        {
            return .tooSoon
        }
        (self.verification, verificationAskedAt) = (verification, moment)
        return .accepted
    }
}
