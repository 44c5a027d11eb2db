import HTTPAPI
import KeySets

/// Reads the totals that the overview counts from the metrics of the process. Nothing is counted twice, and
/// requests cost nothing more.
struct RegistryTotals: Sendable {
    /// Requests whose durations are shown: those that users wait for.
    static let timedRoutes: Set<String> = ["/v1/sign-ins", "/v1/identity-tokens/verify", "/oauth/token"]

    let registry: MetricsRegistry

    var totals: NumberSeries.Counts {
        var totals: NumberSeries.Counts = [:]
        func add(_ value: Double, to name: CountName) {
            totals[name, default: 0] += Int64(exactly: value.rounded()) ?? 0
        }
        func each(_ metric: String, _ body: (MetricReading) -> CountName?) {
            for reading in registry.readings(of: metric) {
                if let name = body(reading) { add(reading.value, to: name) }
            }
        }
        each("siwa_http_requests_total") { reading in
            let isStored = reading.labels["status"] == "200" || reading.labels["status"] == "201"
            return reading.labels["route"] == "/v1/sign-ins" && isStored ? .signIn : nil
        }
        each("siwa_web_sign_ins_total") { $0.labels["step"] == "signed_in" ? .signIn : nil }
        // Not all events of notifications: some come too late, or after a daily check has found the same.
        each("siwa_apple_notified_revocations_total") { _ in .revoked }
        each("siwa_notifications_total") { _ in .notification }
        each("siwa_apple_checks_total") { $0.labels["result"] == "rejected" ? .checkRejected : nil }
        for metric in ["siwa_apple_exchanges_total", "siwa_apple_checks_total"] {
            each(metric) { $0.labels["result"] == "client_rejected" ? .secretRefused : nil }
        }
        each("siwa_verifications_total") { reading in
            guard reading.labels["kind"] == "identity-token" else { return nil }
            return switch reading.labels["result"] {
            case "accepted": .verified
            case KeySetError.Code.keysUnavailable.rawValue: .undecided
            case .some, nil: .unverified
            }
        }
        each("siwa_http_requests_turned_away_total") { _ in .turnedAway }
        each("siwa_http_refusals_total") { $0.labels["code"].map { .refused($0) } }
        each("siwa_storage_failures_total") { $0.labels["cause"].map { .storageFailure($0) } }
        each("siwa_http_request_duration_seconds") { reading in
            guard let route = reading.labels["route"], Self.timedRoutes.contains(route) else { return nil }
            return reading.labels[MetricReading.bound].map { .latency($0) }
        }
        each("siwa_http_caller_requests_total") { reading in
            guard let caller = reading.labels["caller"] else { return nil }
            return reading.labels["result"] == "refused"
                ? .refused(caller: caller) : .answered(caller: caller)
        }
        return totals
    }
}
