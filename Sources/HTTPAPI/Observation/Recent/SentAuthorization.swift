/// The kind of `Authorization` that a request has, for operators. Nothing of its value is kept.
enum SentAuthorization: Sendable, Equatable {
    case none
    /// A Bearer token that begins like an API key.
    case apiKey
    case bearer
    case basic
    /// Another scheme, or the field twice.
    case other

    init(_ field: String?) {
        guard let field else {
            self = .none
            return
        }
        let parts = field.split(separator: " ", maxSplits: 1)
        switch (parts.first?.lowercased(), parts.count) {
        case ("bearer"?, 2): self = parts[1].hasPrefix(APIKeySecret.prefix) ? .apiKey : .bearer
        case ("basic"?, 2): self = .basic
        case (_, _): self = .other
        }
    }

    var text: String {
        switch self {
        case .none: "no Authorization"
        case .apiKey: "Authorization: Bearer with an API key"
        case .bearer: "Authorization: Bearer with a text that does not begin like an API key"
        case .basic: "Authorization: Basic"
        case .other: "Authorization with neither Bearer nor Basic, or twice"
        }
    }
}
