import AppleIdentity
import HTTPEngine
import OAuth
import Synchronization

/// Warnings about faults that an operator must correct, although the service is ready. The service continues
/// to serve requests, and `/readyz`, `/health` and `/metrics` report the warnings.
///
/// No warning makes the service unavailable, because a wrong sealing key or a wrong clock breaks only part of
/// the service, and a deployment that has lost a key must be able to run without it.
public final class ServiceWarnings: Sendable {
    public enum Warning: String, Sendable, CaseIterable {
        /// The configured sealing keys cannot open stored values.
        case sealingKeysWrong = "sealing_keys_wrong"
        /// The clock differs so much from Apple's clock that new tokens or client secrets are refused, or
        /// soon will be.
        case clockWrong = "clock_wrong"
        /// All requests in an hour came from one private address, so the configuration probably lacks a
        /// trusted proxy.
        case trustedProxiesMissing = "trusted_proxies_missing"
    }

    /// Clock difference in seconds beyond which valid requests fail. If the clock is slow, this service
    /// refuses new tokens and notifications because they seem to come from the future. If it is fast, Apple
    /// refuses the client secrets for the same reason.
    public static let refusingClock = VerificationPolicy.usualLeeway

    /// Clock difference in seconds that triggers the warning. It is less than the difference that causes
    /// refusals, because the `Date` header has only whole seconds and clocks drift.
    public static let wrongClock = refusingClock - 10

    private let unreadable = Atomic<Int64>(0)
    private let shut = Atomic<Int64>(0)
    private let sampled = Atomic<Int64>(0)
    let requesters = RequesterWatch()
    private let clockAhead: @Sendable () -> Int64?

    /// - Parameter clockAhead: Returns the number of seconds that the clock is ahead of Apple's clock; `nil`
    ///   while the difference is unknown.
    public init(clockAhead: @escaping @Sendable () -> Int64? = { nil }) {
        self.clockAhead = clockAhead
    }

    /// Number of token signing keys in the last sample that the sealing keys cannot open.
    public var shutSigningKeys: Int64 {
        get { shut.load(ordering: .relaxed) }
        set {
            let change = newValue - shut.exchange(newValue, ordering: .relaxed)
            unreadable.add(change, ordering: .relaxed)
        }
    }

    /// Number of other values in the last sample that the sealing keys cannot open.
    public var unreadableSecrets: Int64 { max(0, unreadableValues - shutSigningKeys) }

    /// Total number of values in the last sample that the sealing keys cannot open.
    public var unreadableValues: Int64 {
        get { unreadable.load(ordering: .relaxed) }
        set { unreadable.store(newValue, ordering: .relaxed) }
    }

    /// Number of values in the last sample.
    public var sampledValues: Int64 {
        get { sampled.load(ordering: .relaxed) }
        set { sampled.store(newValue, ordering: .relaxed) }
    }

    public var secondsAhead: Int64? { clockAhead() }

    /// The private address that sent all requests in the last hour; `nil` after an hour with several
    /// addresses or a public address.
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

/// Metrics with the numbers behind the warnings, updated before each scrape.
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

/// Detects that all requests from browsers and OAuth clients come from one private address, which means that
/// the service runs behind a proxy that is missing from the configuration. All clients then count as one
/// client, so one attacker who guesses secrets slows down all clients, and pages show the proxy's address as
/// the request's origin.
///
/// Evaluates only whole hours. Ignores an hour with only one internal backend, because the backend is not a
/// browser and its requests have no `X-Forwarded-For`.
final class RequesterWatch: Sendable {
    /// Length of the window in milliseconds: one hour.
    static let window: Int64 = 3_600_000
    /// Minimum number of requests in an hour that is evaluated.
    static let fewest = 10

    private struct State {
        var begunAt: Int64?
        var count = 0
        var address: ClientAddress?
        var isAlone = true
        var looksProxied = false
        /// The only client address in the last whole hour; `nil` if there was no such address.
        var lone: ClientAddress?
    }

    private let state = Mutex(State())

    /// The private address that sent all requests in the last whole hour; `nil` after any other hour.
    var loneAddress: String? { state.withLock { $0.lone }?.requester.text }

    /// - Parameters:
    ///   - client: The client's address; `nil` if it is unknown, which happens only with a configured proxy.
    ///   - looksProxied: True for a browser's request, and for a request with `X-Forwarded-For`.
    ///   - now: Current time in milliseconds.
    /// - Returns: The address, at the end of the first hour with only one private address; otherwise `nil`.
    func note(_ client: ClientAddress?, looksProxied: Bool, at now: Int64) -> String? {
        state.withLock { state in
            var found: String?
            // A new hour also begins if the clock was set back.
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
