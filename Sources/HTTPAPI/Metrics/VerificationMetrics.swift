import AppleIdentity
import KeySets

/// Counts tokens by what became of them.
struct VerificationMetrics: Sendable {
    private let accepted: [TokenKind: CounterCell]
    private let refused: [TokenKind: [AppleTokenError.Code: CounterCell]]
    private let unavailable: [TokenKind: CounterCell]

    init(_ registry: MetricsRegistry) {
        func cell(_ kind: TokenKind, _ result: String) -> CounterCell {
            registry.counter(
                "siwa_verifications_total", [("kind", kind.rawValue), ("result", result)],
                help: "Tokens by kind and verdict.")
        }
        func cells(_ make: (TokenKind) -> CounterCell) -> [TokenKind: CounterCell] {
            Dictionary(uniqueKeysWithValues: TokenKind.allCases.map { ($0, make($0)) })
        }
        accepted = cells { cell($0, "accepted") }
        unavailable = cells { cell($0, KeySetError.Code.keysUnavailable.rawValue) }
        refused = Dictionary(
            uniqueKeysWithValues: TokenKind.allCases.map { kind in
                let codes = AppleTokenError.Code.allCases.map { ($0, cell(kind, $0.rawValue)) }
                return (kind, Dictionary(uniqueKeysWithValues: codes))
            })
    }

    /// Runs `work` and counts how its token fared. An error that is not about the token comes after its verification,
    /// so the token was good.
    func counting<Result>(_ kind: TokenKind, _ work: () async throws -> Result) async throws -> Result {
        do {
            let result = try await work()
            accepted[kind]?.increment(by: 1)
            return result
        } catch {
            count(error, kind)
            throw error
        }
    }

    private func count(_ error: any Error, _ kind: TokenKind) {
        switch error {
        case let error as AppleTokenError: refused[kind]?[error.code]?.increment(by: 1)
        case let error as KeySetError:
            switch error.code {
            case .unknownKey: refused[kind]?[.unknownKey]?.increment(by: 1)
            case .keysUnavailable: unavailable[kind]?.increment(by: 1)
            }
        default: accepted[kind]?.increment(by: 1)
        }
    }
}
