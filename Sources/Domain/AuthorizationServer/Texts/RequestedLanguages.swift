/// The languages that a request asks for in its parameters.
public struct RequestedLanguages: Sendable, Hashable {
    /// Language tags (BCP 47), the preferred first.
    public let tags: [String]

    public init(tags: [String] = []) {
        self.tags = tags
    }

    /// Reads the languages from a query that was not checked, or not accepted. A malformed query requests no
    /// language.
    public init(query: String) {
        guard let parameters = try? FormParameters(parsing: query.utf8, as: .query) else {
            self.init()
            return
        }
        self.init(ParameterReader(parameters))
    }

    /// Reads `user_locale`, which Google sends, before `ui_locales` (OpenID Connect Core §3.1.2.1).
    init(_ reader: ParameterReader) {
        let userLocale = (try? reader.hint(.userLocale)) ?? nil
        let uiLocales = (try? reader.hint(.uiLocales)) ?? nil
        tags = [userLocale].compactMap(\.self) + (uiLocales ?? "").split(separator: " ").map(String.init)
    }

    /// Returns the language of a page: the first tag among the languages of the pages, else the language of
    /// `Accept-Language`, else English.
    public func language(among languages: PageLanguages, acceptLanguage: String?) -> PageLanguage {
        for tag in tags {
            if let language = languages.language(tag: tag) { return language }
        }
        return acceptLanguage.flatMap { languages.language(acceptLanguage: $0) } ?? .english
    }
}
