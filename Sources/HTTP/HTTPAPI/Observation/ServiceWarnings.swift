import AppleIdentity
import Synchronization

/// Faults that an operator must correct although the service is ready: it goes on serving, and `/readyz`,
/// `/health` and `/metrics` show them.
///
/// No warning makes the service unavailable. A wrong sealing key or clock spoils a part of its work, and a
/// deployment that has lost a key must be able to go on without it.
public final class ServiceWarnings: Sendable {
    public enum Warning: String, Sendable, CaseIterable {
        /// Stored values do not open with the configured sealing keys.
        case sealingKeysWrong = "sealing_keys_wrong"
        /// The clock differs so much from Apple's that new tokens or client secrets are refused, or soon will be.
        case clockWrong = "clock_wrong"
        /// All requests of an hour came from one private address: a proxy that is not named.
        case trustedProxiesMissing = "trusted_proxies_missing"
    }

    /// Seconds of difference beyond which valid requests fail. With a slower clock this service refuses new
    /// tokens and notifications, which are from the future. With a faster clock Apple refuses the client
    /// secrets, which are from the future there.
    public static let refusingClock = VerificationPolicy.usualLeeway

    /// Seconds of difference from which the warning is shown: before the first refusal, because the field
    /// `Date` has whole seconds and clocks drift.
    public static let wrongClock = refusingClock - 10

    private let unreadable = Atomic<Int64>(0)
    private let shut = Atomic<Int64>(0)
    private let sampled = Atomic<Int64>(0)
    let requesters = RequesterWatch()
    private let clockAhead: @Sendable () -> Int64?

    /// - Parameter clockAhead: Seconds by which the clock is ahead of Apple's; `nil` while the difference is
    ///   unknown.
    public init(clockAhead: @escaping @Sendable () -> Int64? = { nil }) {
        self.clockAhead = clockAhead
    }

    /// Number of keys that sign tokens and do not open, which are among the values of the sample.
    public var shutSigningKeys: Int64 {
        get { shut.load(ordering: .relaxed) }
        set {
            let change = newValue - shut.exchange(newValue, ordering: .relaxed)
            unreadable.add(change, ordering: .relaxed)
        }
    }

    /// Number of values of the last sample that did not open, without keys that sign tokens.
    public var unreadableSecrets: Int64 { max(0, unreadableValues - shutSigningKeys) }

    /// Number of values of the last sample that did not open.
    public var unreadableValues: Int64 {
        get { unreadable.load(ordering: .relaxed) }
        set { unreadable.store(newValue, ordering: .relaxed) }
    }

    /// Number of values of the last sample.
    public var sampledValues: Int64 {
        get { sampled.load(ordering: .relaxed) }
        set { sampled.store(newValue, ordering: .relaxed) }
    }

    public var secondsAhead: Int64? { clockAhead() }

    /// The private address from which all requests of the last hour came; `nil` for an ordinary hour.
    public var loneRequester: String? { requesters.loneAddress }

    var current: [Warning] {
        Warning.allCases.filter { warning in
            switch warning {
            case .sealingKeysWrong: unreadableValues > 0
            case .trustedProxiesMissing: loneRequester != nil
            case .clockWrong: secondsAhead.map { $0.magnitude >= Self.wrongClock.magnitude } ?? false
            }
        }
    }
}
