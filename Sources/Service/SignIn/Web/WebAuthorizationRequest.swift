/// The beginning of a web sign-in.
public struct WebAuthorizationRequest: Sendable {
    /// The URL of Apple's page with all its parameters.
    public let location: String
    public let browser: BrowserSecret
}

/// User data requested from Apple: nothing, the name, the e-mail address, or both.
public struct WebScope: Sendable, Hashable {
    public let rawValue: String

    public static let nameAndEmail = WebScope(unchecked: "name email")
    /// Number of bytes of the longest scope.
    public static let longest = nameAndEmail.rawValue.utf8.count

    /// Reads words with one space between them, each at most once. Returns `nil` for a word that Apple does
    /// not know.
    public init?(_ text: String) {
        guard text.utf8.count <= Self.longest else { return nil }
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
