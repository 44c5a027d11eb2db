import AppAttestation
import AppleIdentity
import Commits
import KeySets
import SignIn
import TraceExport
import Tracing

/// Counts tokens by verification result.
final class VerificationMetrics: Sendable {
    private let identityTokens: Verdicts
    private let notifications: Verdicts

    init(_ registry: MetricsRegistry) {
        identityTokens = Verdicts(registry, .identityToken)
        notifications = Verdicts(registry, .notification)
    }

    /// Counts the result of a use case that verifies a token, as soon as the result is available.
    ///
    /// - Parameter trace: The trace for the verification span; `nil` if tracing is off.
    func counting<Value>(
        _ kind: TokenKind, in trace: RequestTrace?, _ useCase: () throws -> Step<Value>
    ) throws -> Step<Value> {
        let span = trace?.begin(.verify)
        do {
            let step = try useCase()
            if case .work(let work) = step {
                return .work { try await self.counting(kind, in: span, work) }
            }
            countAccepted(kind, span)
            return step
        } catch {
            count(error, kind, span)
            throw error
        }
    }

    func counting<Value>(
        _ kind: TokenKind, in trace: RequestTrace?, _ work: () async throws -> Value
    ) async throws -> Value {
        try await counting(kind, in: trace?.begin(.verify), work)
    }

    private func counting<Value>(
        _ kind: TokenKind, in span: RecordedSpan?, _ work: () async throws -> Value
    ) async throws -> Value {
        do {
            // Makes this span current, so that a key fetch uses it as its parent.
            let value: Value
            if let span {
                value = try await ServiceContext.withValue(span.context, operation: work)
            } else {
                value = try await work()
            }
            countAccepted(kind, span)
            return value
        } catch {
            count(error, kind, span)
            throw error
        }
    }

    private func countAccepted(_ kind: TokenKind, _ span: RecordedSpan?) {
        verdicts(kind).accepted.increment(by: 1)
        end(span, kind)
    }

    private func end(_ span: RecordedSpan?, _ kind: TokenKind, error code: String? = nil) {
        guard let span else { return }
        span.set("siwa.kind", .string(kind.rawValue))
        if let code { span.set("error.type", .string(code)) }
        span.end()
    }

    /// Counts an error. Any error other than a token error occurs after verification, so the token counts as
    /// accepted.
    private func count(_ error: any Error, _ kind: TokenKind, _ span: RecordedSpan?) {
        switch error {
        case let error as AppleTokenError:
            verdicts(kind).refused[error.code]?.increment(by: 1)
            end(span, kind, error: error.code.rawValue)
        case let error as KeySetError:
            switch error.code {
            case .unknownKey: verdicts(kind).refused[.unknownKey]?.increment(by: 1)
            case .keysUnavailable: verdicts(kind).unavailable.increment(by: 1)
            }
            end(span, kind, error: error.code.rawValue)
        default: countAccepted(kind, span)
        }
    }

    private func verdicts(_ kind: TokenKind) -> Verdicts {
        switch kind {
        case .identityToken: identityTokens
        case .notification: notifications
        }
    }

    private struct Verdicts: Sendable {
        let accepted: CounterCell
        let refused: [AppleTokenError.Code: CounterCell]
        let unavailable: CounterCell

        init(_ registry: MetricsRegistry, _ kind: TokenKind) {
            func cell(_ result: String) -> CounterCell {
                registry.counter(
                    "siwa_verifications_total", [("kind", kind.rawValue), ("result", result)],
                    help: "Verified tokens by kind and result.")
            }
            accepted = cell("accepted")
            let codes = AppleTokenError.Code.allCases.map { ($0, cell($0.rawValue)) }
            refused = Dictionary(uniqueKeysWithValues: codes)
            unavailable = cell(KeySetError.Code.keysUnavailable.rawValue)
        }
    }
}

/// Metrics about the state of Apple's key set, updated before each scrape.
struct KeySetMetrics: Sendable {
    init(_ registry: MetricsRegistry, keys: any VerificationKeys) {
        let isReady = registry.gauge("siwa_keys_ready", help: "1 when tokens can be verified.")
        let isStale = registry.gauge("siwa_keys_stale", help: "1 when Apple's keys are not confirmed.")
        let count = registry.gauge("siwa_keys", help: "Usable keys of Apple's set.")
        let age = registry.gauge("siwa_keys_age_seconds", help: "Since Apple last sent or confirmed the set.")
        let replaced = registry.gauge(
            "siwa_key_fetches", [("result", "replaced")], help: "Fetches of the set.")
        let confirmed = registry.gauge("siwa_key_fetches", [("result", "confirmed")])
        let adopted = registry.gauge("siwa_key_fetches", [("result", "adopted")])
        let failures = KeySetFetchError.Code.allCases.map { code in
            (code, registry.gauge("siwa_key_fetches", [("result", code.rawValue)]))
        }
        registry.beforeReading {
            let health = keys.health
            isReady.set(health.isReady ? 1 : 0 as Int64)
            if case .stale = health.status { isStale.set(1 as Int64) } else { isStale.set(0 as Int64) }
            count.set(Int64(health.keyCount))
            age.set(Int64(health.age ?? 0) / 1000)
            replaced.set(Int64(health.fetches.replaced))
            confirmed.set(Int64(health.fetches.confirmed))
            adopted.set(Int64(health.fetches.adopted))
            for (code, cell) in failures { cell.set(Int64(health.fetches.failed[code] ?? 0)) }
        }
    }
}

/// Metrics about the requests that App Check has checked, updated before each scrape. Each configured target
/// has its series from the start.
struct AppCheckMetrics: Sendable {
    init(_ registry: MetricsRegistry, counts: AppCheckCounts) {
        guard !counts.targets.isEmpty else { return }
        var cells: [(target: AppCheckTarget, kind: AppCheckKind, cell: GaugeCell)] = []
        for target in counts.targets {
            for kind in AppCheckKind.allCases {
                let cell = registry.total(
                    "siwa_app_check_requests_total",
                    [
                        ("target_kind", target.kind.rawValue), ("target", target.name),
                        ("kind", kind.rawValue),
                    ],
                    help: "Requests that App Check judged, by app or OAuth client and by kind.")
                cells.append((target, kind, cell))
            }
        }
        let dropped = registry.total(
            "siwa_app_check_dropped_total",
            help: "Judged requests whose hour was dropped before it could be stored.")
        registry.beforeReading { [cells] in
            for (target, kind, cell) in cells { cell.set(counts.totals(of: target)[kind]) }
            dropped.set(counts.dropped)
        }
    }
}
