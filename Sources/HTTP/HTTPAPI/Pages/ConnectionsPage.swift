import AppleAccounts
import AuthorizationServer
import HTTPEngine
import OAuth
import Pages

/// The page that shows a user the clients with access to the account. Each client has a button that ends its
/// access.
struct ConnectionsPage {
    /// Name of the form field with the grant ID. Each form also has the `ConsentPage.tokenField` field.
    static let grantField: StaticString = "grant"

    let list: ConnectionList
    let query: ConnectionsQuery
    let language: PageLanguage

    var response: HTTPResponse {
        BrowserPage(
            language: language, title: texts.title, content: content,
            postsToItself: !list.connections.isEmpty,
            hasPictures: list.connections.contains { $0.client?.appearance.logo != nil }
        ).response
    }

    private var texts: ConnectionsTexts { .of(language) }

    private var content: HTML {
        HTML {
            "<h1>\(texts.title)</h1>"
            UserBlock(list.account, language)
            if query.hasRemoved { "<p class=\"notice\" role=\"status\">\(texts.removed)</p>" }
            if list.connections.isEmpty {
                "<p class=\"first\">\(texts.none)</p>"
            } else {
                "<p class=\"first\">\(HTML.filled(texts.intro, ["app": .value(list.appName[language])]))</p>"
                "<ul class=\"connections\">\n\(HTML(list.connections.map(item)))</ul>"
                "<p class=\"note last\">\(texts.consequence)</p>"
            }
        }
    }

    private func item(_ connection: ConnectionList.Connection) -> HTML {
        let (name, appearance) = (connection.name[language], connection.client?.appearance)
        let scopes = connection.scopes.map { "<li>\($0[language])</li>" as HTML }
        // Includes the client's name, because a screen reader would otherwise read all buttons alike.
        return """
            <li>
            \(appearance?.picture)<h2>\(HTML.value(name))</h2>
            <ul class="scopes">\(HTML(scopes))</ul>
            <p class="note">\(times(of: connection.grant))</p>
            \(appearance?.links(of: name, language))\
            <form method="post" action="\(ConnectionsUseCase.path)?\(query.text)">
            <input type="hidden" name="\(ConsentPage.tokenField)" value="\(connection.formToken)">
            <input type="hidden" name="\(Self.grantField)" value="\(connection.grant.id.rawValue)">
            <button aria-label="\(texts.remove): \(name)">\(texts.remove)</button>
            </form>
            </li>

            """
    }

    private func times(of grant: GrantRecord) -> HTML {
        let since = HTML.filled(texts.since, ["day": Self.day(of: grant.createdAt, in: language)])
        let used =
            grant.lastUsedAt.map { HTML.filled(texts.lastUsed, ["day": Self.day(of: $0, in: language)]) }
            ?? .text(texts.neverUsed)
        return "\(since) · \(used)"
    }

    /// Returns the UTC date in words, such as `21 November 2026`. Languages that a deployment adds use the
    /// format `2026-11-21`.
    static func day(of moment: Moment, in language: PageLanguage) -> HTML {
        let date = moment.rfc3339.prefix(10)
        let parts = date.split(separator: "-").compactMap { Int($0) }
        guard let names = months(in: language), parts.count == 3, (1...12).contains(parts[1]) else {
            return .leftToRight(String(date))
        }
        return .value("\(parts[2]) \(names[parts[1] - 1]) \(parts[0])")
    }

    /// Returns the month names as used in dates; `nil` for a language that a deployment adds.
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

/// The page where a user without a session chooses the app to sign in to, if several apps have clients.
struct AppChoicePage {
    let apps: [(app: ClientID, name: LocalizedText)]
    let query: ConnectionsQuery
    let language: PageLanguage

    var response: HTTPResponse {
        let texts = ConnectionsTexts.of(language)
        let content = HTML {
            "<h1>\(texts.chooseApp)</h1>"
            "<p>\(texts.chooseAppAdvice)</p>"
            for (app, name) in apps {
                let address = "\(ConnectionsUseCase.path)?\(query.of(app: app.rawValue).text)"
                "<a class=\"button main\" href=\"\(address)\">\(HTML.value(name[language]))</a>"
            }
        }
        return BrowserPage(language: language, title: texts.chooseApp, content: content).response
    }
}
