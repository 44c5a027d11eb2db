import AppAttestation
import AppleAccounts
import AppleIdentity
import AuthorizationServer
import SignIn
import Synchronization

/// Counts responses that have an error code, by code.
///
/// Each code is a word of this service, so the number of codes is bounded by the program. The bound here keeps a
/// mistake from making series without end.
final class RefusalMetrics: Sendable {
    static let most = 192
    static let name = "siwa_http_refusals_total"

    private let registry: MetricsRegistry
    private let cells = Mutex<[String: CounterCell]>([:])

    init(_ registry: MetricsRegistry) {
        self.registry = registry
        for code in Self.declared { _ = cell(code) }
    }

    /// The codes of this service. Each has its series at the start, so that a rate finds the first refusal.
    private static let declared: [String] = [
        ProblemCode.all.map(\.rawValue), AppleTokenError.Code.allCases.map(\.rawValue),
        AccountRefusal.Code.allCases.map(\.rawValue), WebRefusal.Code.allCases.map(\.rawValue),
        AppCheckRefusal.Code.allCases.map(\.rawValue), OAuthError.Code.allCases.map(\.rawValue),
    ].flatMap { $0 }

    func count(_ code: String) { cell(code).increment(by: 1) }

    private func cell(_ code: String) -> CounterCell {
        cells.withLock { cells in
            let code = cells[code] != nil || cells.count < Self.most ? code : "other"
            if let cell = cells[code] { return cell }
            let cell = registry.counter(
                Self.name, [("code", code)], help: "Responses with an error code by code.")
            cells[code] = cell
            return cell
        }
    }
}
