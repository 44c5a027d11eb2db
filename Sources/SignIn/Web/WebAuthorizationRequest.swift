/// The beginning of a visit.
public struct WebAuthorizationRequest: Sendable {
    /// Apple's page, with everything that it must know.
    public let location: String
    public let browser: BrowserSecret
}

/// What Apple is asked to share: nothing, the name, the address, or both.
public struct WebScope: Sendable, Hashable {
    public let rawValue: String

    public static let nameAndEmail = WebScope(unchecked: "name email")

    /// Words with one space between, each of them at most once. Returns `nil` for any that Apple does not know.
    public init?(_ text: String) {
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        guard Set(words).count == words.count, words.allSatisfy({ $0 == "name" || $0 == "email" }) else {
            return nil
        }
        rawValue = text
    }

    private init(unchecked text: String) {
        rawValue = text
    }
}
