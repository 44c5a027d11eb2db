public import AppleAccounts

extension GoogleEventKind {
    private static let risc = "https://schemas.openid.net/secevent/risc/event-type/"
    private static let oauth = "https://schemas.openid.net/secevent/oauth/event-type/"

    /// Finds the kind of an event URI; `other` for a URI that this version does not know.
    public init(uri: String) {
        self = Self.allCases.first { $0.uri == uri } ?? .other
    }

    /// The URI of the events (RISC 1.0 §2); `nil` for `other`.
    public var uri: String? {
        switch self {
        case .tokensRevoked, .tokenRevoked: Self.oauth + rawValue
        case .sessionsRevoked, .accountDisabled, .accountEnabled, .credentialChangeRequired, .verification:
            Self.risc + rawValue
        case .other: nil
        }
    }
}
