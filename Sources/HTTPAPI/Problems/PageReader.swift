import AuthorizationServer
import NIOHTTP1

/// The person who reads a page about an error, as far as the request says. A class, so that every other request
/// has one word for it and not five.
final class PageReader: Sendable {
    private let query: String?
    private let acceptLanguage: String?
    /// Whether the address is one of App Flip's universal links, which no app has opened.
    let isAtAppLink: Bool

    /// - Parameters:
    ///   - query: Can name languages (`ui_locales`).
    ///   - headers: `nil` when they did not arrive.
    init(query: Substring?, headers: HTTPHeaders?, isAtAppLink: Bool = false) {
        self.query = query.map(String.init)
        acceptLanguage = headers?.first(name: "accept-language")
        self.isAtAppLink = isAtAppLink
    }

    /// Found when it is needed, because most requests do not fail.
    var language: PageLanguage {
        RequestedLanguages(query: query ?? "").language(acceptLanguage: acceptLanguage)
    }
}
