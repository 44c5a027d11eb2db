/// The languages that a request asks for in its parameters.
public struct RequestedLanguages: Sendable, Hashable {
    /// Language tags (BCP 47), the most wanted first.
    public let tags: [String]

    public init(tags: [String] = []) {
        self.tags = tags
    }

    /// Of a request's query that was not checked, or not accepted. Nothing is asked for by one that cannot be
    /// read.
    public init(query: String) {
        guard let parameters = try? FormParameters(parsing: query.utf8, as: .query) else {
            self.init()
            return
        }
        self.init(ParameterReader(parameters))
    }

    /// `user_locale`, which Google sends, before `ui_locales` (OpenID Connect Core §3.1.2.1).
    init(_ reader: ParameterReader) {
        let userLocale = (try? reader.hint(.userLocale)) ?? nil
        let uiLocales = (try? reader.hint(.uiLocales)) ?? nil
        tags = [userLocale].compactMap(\.self) + (uiLocales ?? "").split(separator: " ").map(String.init)
    }

    /// The language of a page: the first tag that the pages have, else the one of `Accept-Language`, else
    /// English.
    public func language(acceptLanguage: String?) -> PageLanguage {
        for tag in tags {
            if let language = PageLanguage(tag: tag) { return language }
        }
        return acceptLanguage.flatMap { PageLanguage(acceptLanguage: $0) } ?? .english
    }
}
