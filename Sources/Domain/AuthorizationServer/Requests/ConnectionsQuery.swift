import Encodings

/// The query of the user's page about connected clients.
public struct ConnectionsQuery: Sendable, Hashable {
    /// The primary client ID of the app, as in the query. `nil` means any app.
    public let app: String?
    /// The requested language of the page; `nil` for the language of the browser.
    public let language: PageLanguage?
    /// True after a grant was removed.
    public let hasRemoved: Bool

    public init(app: String?, language: PageLanguage?, hasRemoved: Bool = false) {
        (self.app, self.language, self.hasRemoved) = (app, language, hasRemoved)
    }

    /// Reads an untrusted query. Parameters that cannot be read count as absent.
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

    /// Largest size in bytes; client IDs are shorter.
    private static let longestApp = 256

    /// The query without the note about the removal. It has only values that this type has checked or
    /// encoded.
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

    /// Returns the same query for an app.
    public func of(app: String) -> ConnectionsQuery { ConnectionsQuery(app: app, language: language) }
}
