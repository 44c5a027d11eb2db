import AppleIdentity
import HTTPEngine
import OAuth
import Synchronization

/// Faults that an operator must correct although the service is ready: it
/// continues to serve, and `/readyz`, `/health` and `/metrics` show them.
///
/// No warning makes the service unavailable. A wrong sealing key or clock breaks a part of its work, and a
/// deployment that has lost a key must be able to continue without the key.
public final class ServiceWarnings: Sendable {
    public enum Warning: String, Sendable, CaseIterable {
        /// Stored values do not open with the configured sealing keys.
        case sealingKeysWrong = "sealing_keys_wrong"
        /// The clock differs so much from Apple's that new tokens or client secrets are refused, or soon will be.
        case clockWrong = "clock_wrong"
        /// All requests of an hour came from one private address: a proxy that is not configured.
        case trustedProxiesMissing = "trusted_proxies_missing"
    }

    /// Seconds of difference beyond which valid requests fail. With a slow clock,
    /// this service refuses new tokens and notifications as dated in the future.
    /// With a fast clock, Apple refuses the client secrets as dated in the future.
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

    /// Number of token signing keys that do not open, which are included in the sample.
    public var shutSigningKeys: Int64 {
        get { shut.load(ordering: .relaxed) }
        set {
            let change = newValue - shut.exchange(newValue, ordering: .relaxed)
            unreadable.add(change, ordering: .relaxed)
        }
    }

    /// Number of values of the last sample that did not open, without token signing keys.
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

/// The numbers behind the warnings, read before each scrape.
struct WarningMetrics: Sendable {
    init(_ registry: MetricsRegistry, warnings: ServiceWarnings) {
        let unreadable = registry.gauge(
            "siwa_sealed_values_unreadable",
            help: "Stored values of a sample that the configured sealing keys do not open.")
        let ahead = registry.gauge(
            "siwa_clock_skew_seconds",
            help: "By how much the clock is ahead of Apple's; NaN until Apple has answered.")
        let proxies = registry.gauge(
            "siwa_trusted_proxies_missing",
            help: "1 if all requests of the last hour came from one private address, which is no named proxy."
        )
        registry.beforeReading {
            unreadable.set(warnings.unreadableValues)
            proxies.set(warnings.loneRequester == nil ? Int64(0) : 1)
            ahead.set(warnings.secondsAhead.map(Double.init) ?? .nan)
        }
    }
}

/// Notices that every request of browsers and OAuth clients comes from one private address. Then the service
/// is behind a proxy that the configuration does not name: all clients count as one client, so one guesser
/// slows down all clients, and their pages name the proxy as their origin.
///
/// Judges whole hours. An hour with only one internal backend does not
/// count: its requests are not from browsers and have no `X-Forwarded-For`.
final class RequesterWatch: Sendable {
    /// Milliseconds.
    static let window: Int64 = 3_600_000
    /// Smallest number of requests for judging an hour.
    static let fewest = 10

    private struct State {
        var begunAt: Int64?
        var count = 0
        var address: ClientAddress?
        var isAlone = true
        var looksProxied = false
        /// The address of the last whole hour.
        var lone: ClientAddress?
    }

    private let state = Mutex(State())

    /// The address from which all requests of the last whole hour came; `nil` for an ordinary hour.
    var loneAddress: String? { state.withLock { $0.lone }?.requester.text }

    /// - Parameters:
    ///   - client: `nil` when the address is unknown, which only a named proxy causes.
    ///   - looksProxied: True for a request of a browser, or with `X-Forwarded-For`.
    ///   - now: Milliseconds.
    /// - Returns: The address, once at the end of the first such hour.
    func note(_ client: ClientAddress?, looksProxied: Bool, at now: Int64) -> String? {
        state.withLock { state in
            var found: String?
            // A clock that was set back begins a new hour.
            if let begunAt = state.begunAt, !(0..<Self.window).contains(now - begunAt) {
                let isLone = state.isAlone && state.looksProxied && state.count >= Self.fewest
                let last = state.lone
                state = State(lone: now >= begunAt && isLone ? state.address : nil)
                if last == nil { found = state.lone?.requester.text }
            }
            if state.begunAt == nil { (state.begunAt, state.address) = (now, client) }
            state.count += 1
            state.isAlone = state.isAlone && client == state.address && client?.isPrivate ?? false
            state.looksProxied = state.looksProxied || looksProxied
            return found
        }
    }
}
