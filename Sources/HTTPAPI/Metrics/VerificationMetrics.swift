import AppleIdentity
import KeySets

/// Counts tokens by what became of them.
final class VerificationMetrics: Sendable {
    private let identityTokens: Verdicts
    private let notifications: Verdicts

    init(_ registry: MetricsRegistry) {
        identityTokens = Verdicts(registry, .identityToken)
        notifications = Verdicts(registry, .notification)
    }

    /// Runs `work` and counts how its token fared.
    func counting<Result>(_ kind: TokenKind, _ work: () async throws -> Result) async throws -> Result {
        do {
            let result = try await work()
            countAccepted(kind)
            return result
        } catch {
            count(error, kind)
            throw error
        }
    }

    func countAccepted(_ kind: TokenKind) {
        verdicts(kind).accepted.increment(by: 1)
    }

    /// An error that is not about the token comes after its verification, so the token was good.
    func count(_ error: any Error, _ kind: TokenKind) {
        switch error {
        case let error as AppleTokenError: verdicts(kind).refused[error.code]?.increment(by: 1)
        case let error as KeySetError:
            switch error.code {
            case .unknownKey: verdicts(kind).refused[.unknownKey]?.increment(by: 1)
            case .keysUnavailable: verdicts(kind).unavailable.increment(by: 1)
            }
        default: countAccepted(kind)
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
                    help: "Tokens by kind and verdict.")
            }
            accepted = cell("accepted")
            let codes = AppleTokenError.Code.allCases.map { ($0, cell($0.rawValue)) }
            refused = Dictionary(uniqueKeysWithValues: codes)
            unavailable = cell(KeySetError.Code.keysUnavailable.rawValue)
        }
    }
}
