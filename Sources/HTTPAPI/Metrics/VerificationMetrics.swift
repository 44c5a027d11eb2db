import AppleIdentity
import KeySets
import SignIn

/// Counts tokens by the result of their verification.
final class VerificationMetrics: Sendable {
    private let identityTokens: Verdicts
    private let notifications: Verdicts

    init(_ registry: MetricsRegistry) {
        identityTokens = Verdicts(registry, .identityToken)
        notifications = Verdicts(registry, .notification)
    }

    /// Counts the result of a use case that verifies a token, at once or when it is available.
    func counting<Value>(_ kind: TokenKind, _ useCase: () throws -> Step<Value>) throws -> Step<Value> {
        do {
            switch try useCase() {
            case .now(let value):
                countAccepted(kind)
                return .now(value)
            case .later(let work):
                return .later { try await self.counting(kind, work) }
            }
        } catch {
            count(error, kind)
            throw error
        }
    }

    func counting<Value>(_ kind: TokenKind, _ work: () async throws -> Value) async throws -> Value {
        do {
            let value = try await work()
            countAccepted(kind)
            return value
        } catch {
            count(error, kind)
            throw error
        }
    }

    private func countAccepted(_ kind: TokenKind) {
        verdicts(kind).accepted.increment(by: 1)
    }

    /// Counts an error. An error that is not about the token comes after its verification, so the token was
    /// accepted.
    private func count(_ error: any Error, _ kind: TokenKind) {
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
                    help: "Verified tokens by kind and result.")
            }
            accepted = cell("accepted")
            let codes = AppleTokenError.Code.allCases.map { ($0, cell($0.rawValue)) }
            refused = Dictionary(uniqueKeysWithValues: codes)
            unavailable = cell(KeySetError.Code.keysUnavailable.rawValue)
        }
    }
}
