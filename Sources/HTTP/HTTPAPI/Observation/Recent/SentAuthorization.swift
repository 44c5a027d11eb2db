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
        if let token = BearerField(field)?.token {
            self = token.hasPrefix(APIKeySecret.prefix) ? .apiKey : .bearer
        } else {
            self = field.prefix(6).lowercased() == "basic " ? .basic : .other
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
