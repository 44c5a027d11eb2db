import AppleAccounts
import AuthorizationServer
import Encodings
import HTTPEngine
import OAuth

/// The page that shows a user which clients have access to the account, each with a button that ends it.
struct ConnectionsPage {
    /// The name of the field of its forms, beside `ConsentPage.tokenField`.
    static let grantField: StaticString = "grant"

    let list: ConnectionList
    let query: ConnectionsQuery
    let language: PageLanguage

    var response: HTTPResponse {
        BrowserPage(
            language: language, title: texts.title, content: content(),
            postsToItself: !list.connections.isEmpty,
            hasPictures: list.connections.contains { $0.client?.appearance.logo != nil }
        ).response
    }

    private var texts: ConnectionsTexts { .of(language) }

    private func content() -> [UInt8] {
        let consent = AuthorizeTexts.of(language).consent
        var page = HTMLWriter(reservingCapacity: 2048 + 2048 * list.connections.count)
        page.append("<h1>\(texts.title.htmlEscaped)</h1>\n")
        UserBlock(
            account: list.account, signedInAs: consent.signedInAs.htmlEscaped,
            withoutName: consent.withoutName.htmlEscaped
        ).write(to: &page)
        page.append("</div>\n")
        if query.hasRemoved {
            page.append("<p class=\"notice\" role=\"status\">\(texts.removed.htmlEscaped)</p>\n")
        }
        guard !list.connections.isEmpty else {
            page.append("<p class=\"first\">\(texts.none.htmlEscaped)</p>\n")
            return page.bytes
        }
        let intro = Markup.filled(texts.intro, ["app": .value(list.appName[language])])
        page.append("<p class=\"first\">\(intro.html)</p>\n<ul class=\"connections\">\n")
        for connection in list.connections { write(connection, to: &page) }
        page.append("</ul>\n<p class=\"note last\">\(texts.consequence.htmlEscaped)</p>\n")
        return page.bytes
    }

    private func write(_ connection: ConnectionList.Connection, to page: inout HTMLWriter) {
        let name = connection.name[language]
        page.append("<li>\n\(connection.client?.appearance.logoMarkup ?? "")<h2>")
        page.append(value: name)
        page.append("</h2>\n<ul class=\"scopes\">")
        for scope in connection.scopes {
            page.append("<li>")
            page.append(escaping: scope[language])
            page.append("</li>")
        }
        page.append("</ul>\n<p class=\"note\">\(times(of: connection.grant))</p>\n")
        page.append(connection.client?.appearance.linksMarkup(of: name, language) ?? "")
        page.append("<form method=\"post\" action=\"\(ConnectionsUseCase.path)?")
        page.append(escaping: query.text)
        page.append("\">\n<input type=\"hidden\" name=\"\(ConsentPage.tokenField)\" value=\"")
        page.append(escaping: connection.formToken)
        page.append("\">\n<input type=\"hidden\" name=\"\(Self.grantField)\" value=\"")
        page.append(escaping: connection.grant.id.rawValue)
        // Without its client a screen reader would read the same button several times.
        page.append("\">\n<button aria-label=\"")
        page.append(escaping: "\(texts.remove): \(name)")
        page.append("\">\(texts.remove.htmlEscaped)</button>\n</form>\n</li>\n")
    }

    private func times(of grant: GrantRecord) -> String {
        let since = Markup.filled(texts.since, ["day": Self.day(of: grant.createdAt, in: language)])
        let used =
            grant.lastUsedAt.map { Markup.filled(texts.lastUsed, ["day": Self.day(of: $0, in: language)]) }
            ?? .text(texts.neverUsed)
        return "\(since.html) · \(used.html)"
    }

    /// The day in UTC, in words: `21 November 2026`. A language of a deployment gets `2026-11-21`.
    static func day(of moment: Moment, in language: PageLanguage) -> Markup {
        let date = moment.rfc3339.prefix(10)
        let parts = date.split(separator: "-").compactMap { Int($0) }
        guard let names = months(in: language), parts.count == 3, (1...12).contains(parts[1]) else {
            return .code(String(date))
        }
        return .value("\(parts[2]) \(names[parts[1] - 1]) \(parts[0])")
    }

    /// The months as they stand in a date; `nil` for a language of a deployment.
    private static func months(in language: PageLanguage) -> [String]? {
        switch language {
        case .english:
            [
                "January", "February", "March", "April", "May", "June", "July", "August", "September",
                "October", "November", "December",
            ]
        case .arabic:
            [
                "يناير", "فبراير", "مارس", "أبريل", "مايو", "يونيو", "يوليو", "أغسطس", "سبتمبر", "أكتوبر",
                "نوفمبر", "ديسمبر",
            ]
        case .turkish:
            [
                "Ocak", "Şubat", "Mart", "Nisan", "Mayıs", "Haziran", "Temmuz", "Ağustos", "Eylül", "Ekim",
                "Kasım", "Aralık",
            ]
        case .polish:
            [
                "stycznia", "lutego", "marca", "kwietnia", "maja", "czerwca", "lipca", "sierpnia",
                "września", "października", "listopada", "grudnia",
            ]
        case .other: nil
        }
    }
}

/// The page that asks a user without a session for which app to sign in, where several apps have clients.
struct AppChoicePage {
    let apps: [(app: ClientID, name: LocalizedText)]
    let query: ConnectionsQuery
    let language: PageLanguage

    var response: HTTPResponse {
        BrowserPage(
            language: language, title: ConnectionsTexts.of(language).chooseApp, content: Array(content.utf8)
        ).response
    }

    private var content: String {
        let texts = ConnectionsTexts.of(language)
        let links = apps.map { app, name in
            let address = "\(ConnectionsUseCase.path)?\(query.of(app: app.rawValue).text)"
            return
                "<a class=\"button main\" href=\"\(address.htmlEscaped)\">\(Markup.value(name[language]).html)</a>"
        }
        return """
            <h1>\(texts.chooseApp.htmlEscaped)</h1>
            <p>\(texts.chooseAppAdvice.htmlEscaped)</p>
            \(links.joined(separator: "\n"))
            """
    }
}
