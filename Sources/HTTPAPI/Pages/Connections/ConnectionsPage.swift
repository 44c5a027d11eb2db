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
        let since = Markup.filled(texts.since, ["day": .code(Self.day(of: grant.createdAt))])
        let used =
            grant.lastUsedAt.map { Markup.filled(texts.lastUsed, ["day": .code(Self.day(of: $0))]) }
            ?? .text(texts.neverUsed)
        return "\(since.html) · \(used.html)"
    }

    /// The day in UTC, as every language can read it.
    private static func day(of moment: Moment) -> String { String(moment.rfc3339.prefix(10)) }
}
