import AppleAccounts
import Metrics

/// The results of revoking the tokens of erased accounts, and the number of retries.
struct ErasureMetrics: Sendable {
    private let proven = Counter(
        label: "siwa_apple_revocations", dimensions: [("result", ErasureOutcome.provenRevoked.rawValue)])
    private let notRevoked = Counter(
        label: "siwa_apple_revocations", dimensions: [("result", ErasureOutcome.notRevoked.rawValue)])
    private let again = Counter(label: "siwa_apple_revocations", dimensions: [("result", "again")])

    func count(_ step: ErasureGrant.Step) {
        switch step {
        case .done(.provenRevoked): proven.increment()
        case .done(.notRevoked): notRevoked.increment()
        case .exchange, .revoke, .prove: again.increment()
        }
    }
}
