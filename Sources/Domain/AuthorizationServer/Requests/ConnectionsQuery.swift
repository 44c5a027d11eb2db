import Encodings

/// The query of the page that shows users their connected clients.
public struct ConnectionsQuery: Sendable, Hashable {
    /// The app's primary client ID, as in the query. `nil` means any app.
    public let app: String?
    /// The requested page language. `nil` for the browser's language.
    public let language: PageLanguage?
    /// True after the user has removed a grant.
    public let hasRemoved: Bool

    public init(app: String?, language: PageLanguage?, hasRemoved: Bool = false) {
        (self.app, self.language, self.hasRemoved) = (app, language, hasRemoved)
    }

    /// Reads an untrusted query. Unreadable parameters are treated as absent.
    ///
    /// - Parameter languages: The languages of the pages.
    public init(_ query: String, among languages: PageLanguages) {
        guard let parameters = try? FormParameters(parsing: query.utf8, as: .query) else {
            self.init(app: nil, language: nil)
            return
        }
        var app: String?
        if case .text(let text) = parameters.value(of: "app", upTo: Self.longestApp) { app = text }
        let tags = RequestedLanguages(query: query).tags
        self.init(
            app: app, language: tags.lazy.compactMap { languages.language(tag: $0) }.first,
            hasRemoved: parameters["removed"] != .absent)
    }

    /// Maximum size of the app's client ID in bytes. All client IDs are shorter.
    private static let longestApp = 256

    /// The query without the notice about a removed grant. It contains only checked or encoded values.
    public var text: String {
        var query = QueryText()
        if let app { query.append("app", app) }
        if let language { query.append("ui_locales", language.rawValue) }
        return query.text
    }

    public var textAfterRemoval: String {
        let text = text
        return text.isEmpty ? "removed=1" : "\(text)&removed=1"
    }

    /// Returns the same query for another app.
    public func of(app: String) -> ConnectionsQuery { ConnectionsQuery(app: app, language: language) }
}
