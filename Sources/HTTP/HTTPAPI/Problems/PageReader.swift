import AuthorizationServer
import NIOHTTP1

/// The request's facts about the user who reads an error page. A class, so that every other request carries
/// one word for it and not five.
final class PageReader: Sendable {
    private let query: String?
    private let acceptLanguage: String?
    private let languages: PageLanguages
    /// True if the address is a universal link of App Flip, which no app has opened.
    let isAtAppLink: Bool

    /// - Parameters:
    ///   - query: Can name languages (`ui_locales`).
    ///   - headers: `nil` when they did not arrive.
    ///   - languages: The languages of the pages.
    init(query: Substring?, headers: HTTPHeaders?, languages: PageLanguages, isAtAppLink: Bool = false) {
        self.languages = languages
        self.query = query.map(String.init)
        acceptLanguage = headers?.first(name: "accept-language")
        self.isAtAppLink = isAtAppLink
    }

    /// Determined when it is needed, because most requests do not fail.
    var language: PageLanguage {
        RequestedLanguages(query: query ?? "")
            .language(among: languages, acceptLanguage: acceptLanguage)
    }
}
