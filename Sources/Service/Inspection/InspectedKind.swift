package import AppAttestation
package import AppleIdentity

/// The kinds of input.
package enum InspectedKind: Equatable, Sendable {
    case token(TokenKind)
    case object(AppAttestationKind)
    case issued(IssuedTokenKind)

    package static let all =
        TokenKind.allCases.map(Self.token) + AppAttestationKind.allCases.map(Self.object)
        + IssuedTokenKind.allCases.map(Self.issued)

    /// The name of the kind in options and reports.
    package var name: String {
        switch self {
        case .token(let kind): kind.rawValue
        case .object(let kind): kind.rawValue
        case .issued(let kind): kind.rawValue
        }
    }

    /// Returns `nil` for another name.
    package init?(name: String) {
        guard let kind = Self.all.first(where: { $0.name == name }) else { return nil }
        self = kind
    }
}
