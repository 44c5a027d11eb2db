import Synchronization

/// Counts responses that have an error code, by code.
///
/// Each code is a word of this service, so the number of codes is bounded by the program. The bound here keeps a
/// mistake from making series without end.
final class RefusalMetrics: Sendable {
    private static let most = 128
    private static let name = "siwa_http_refusals_total"

    private let registry: MetricsRegistry
    private let cells = Mutex<[String: CounterCell]>([:])

    init(_ registry: MetricsRegistry) {
        self.registry = registry
        // The family is there before the first refusal, so that a rate finds its beginning.
        for code in ["token_expired", "token_not_yet_valid", "storage_unavailable", "keys_unavailable"] {
            _ = cell(code)
        }
    }

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
