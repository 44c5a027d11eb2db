import AppleAccounts
import Metrics

/// The results of exchanges.
struct ExchangeMetrics: Sendable {
    private let held = Counter(label: "siwa_apple_exchanges", dimensions: [("result", "held")])
    private let again = Counter(label: "siwa_apple_exchanges", dimensions: [("result", "again")])
    private let lost = Counter(label: "siwa_apple_exchanges", dimensions: [("result", "not_stored")])
    private let unavailable = Dictionary(
        uniqueKeysWithValues: RefreshTokenCause.allCases.map {
            ($0, Counter(label: "siwa_apple_exchanges", dimensions: [("result", $0.rawValue)]))
        })

    func count(_ outcome: CodeExchange.Outcome) {
        switch outcome {
        case .token: held.increment()
        case .unavailable(let cause): unavailable[cause]?.increment()
        case .tryAgain: again.increment()
        }
    }

    func countLost() {
        lost.increment()
    }
}
