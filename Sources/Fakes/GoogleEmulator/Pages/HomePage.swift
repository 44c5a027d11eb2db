import EmulatorServer
import Encodings
import Hummingbird

/// The page of the Google app: makes links, uses them, and shows every request and response.
struct HomePage {
    /// A security event of the server.
    private struct EventRow {
        let type: String
        let link: String
        let hash: String
        let deliveries: Int
    }

    private struct Setup {
        let rows: [PageField]
    }

    private let token: String
    private let scope: String
    private let account = GoogleAccount()
    private let links: [LinkEntry]
    private let events: [EventRow]
    private let eventTypes = SentEventType.allCases.map(\.rawValue)
    /// The registered receiver of Google's events.
    private let receiver: String?
    private let isDisabled: Bool
    private let setup: Setup
    private let exchanges: [Exchange]

    /// - Parameter token: Token of the forms (CSRF).
    init(state: GoogleState, token: String) {
        (self.token, scope) = (token, state.configuration.scopes.joined(separator: " "))
        links = state.links.reversed().map { LinkEntry($0) }
        events = state.receivedEvents.reversed().map { event in
            EventRow(
                type: event.type, link: event.linkID.map { "link \($0)" } ?? "unknown token",
                hash: String(event.tokenHash.prefix(16)), deliveries: event.deliveries)
        }
        let stream = state.update { $0.events.stream }
        (receiver, isDisabled) = (stream?.url, stream?.isEnabled == false)
        setup = Setup(rows: Self.setup(of: state))
        exchanges = state.exchanges.reversed()
    }

    var response: Response {
        GooglePage(app: .google, title: "Fake Google", template: "home", values: self, isWide: true).response
    }

    private static func setup(of state: GoogleState) -> [PageField] {
        let configuration = state.configuration
        let server = try? state.server()
        return [
            PageField("authorization URL", server?.authorizationURL ?? "none"),
            PageField("token URL", server?.tokenURL ?? "none"),
            PageField("client_id", configuration.clientID),
            PageField("client_secret", ShownText.shortened(configuration.clientSecret)),
            PageField("project", configuration.projectID),
            PageField("aud of Google's tokens", configuration.googleClientID),
            PageField("redirect URI", state.redirectURIs[0]),
            PageField("redirect URI of App Flip", state.redirectURIs[1]),
        ]
    }
}

/// A link on the page, with its state in words. An ended link has buttons too, to show how the server refuses
/// it.
struct LinkEntry {
    private let id: String
    private let way: String
    private let tone: String
    private let word: String
    private let error: String?
    private let rest: String
    private let goesOnInBrowser: Bool
    private let rows: [PageField]
    private let hasTokens: Bool
    private let isLinked: Bool

    init(_ link: AccountLink) {
        id = link.id
        way =
            switch link.mode {
            case .browser: "in the browser"
            case .appFlip: "by App Flip"
            case .streamlined: "by streamlined linking"
            }
        (isLinked, hasTokens) = (link.status == .linked, link.accessToken != nil)
        (tone, goesOnInBrowser) = (isLinked ? "good" : "bad", link.goesOnInBrowser)
        var failure: String?
        switch link.status {
        case .linked: (word, rest) = ("linked", ", as far as Google knows")
        case .failed(let error):
            failure = error
            let isEnd = link.mode == .appFlip && !link.goesOnInBrowser
            (word, rest) = ("failed", isEnd ? ". Google ends linking." : "")
        case .unlinkedByGoogle: (word, rest) = ("unlinked", " here, and revoked at the server")
        case .unlinkedByService: (word, rest) = ("unlinked", " by the server, which has sent an event")
        case .refused: (word, rest) = ("ended", ": the server answered invalid_grant")
        }
        error = failure
        rows = Self.rows(of: link)
    }

    private static func rows(of link: AccountLink) -> [PageField] {
        var rows: [PageField] = []
        if let scope = link.scope { rows.append(PageField("scope", scope)) }
        if let token = link.accessToken {
            let end = link.expiresAt.map { ", until \(RFC3339.text(milliseconds: $0 * 1000))" } ?? ""
            rows.append(PageField("access token", ShownText.shortened(token) + end))
        }
        if let token = link.refreshToken {
            rows.append(PageField("refresh token", ShownText.shortened(token)))
        }
        if let subject = link.subject { rows.append(PageField("Google account", subject)) }
        if let isActive = link.isActive {
            rows.append(
                PageField("the app's API says", isActive ? "the access token is active" : inactive(link)))
        }
        if let account = link.account { rows.append(PageField("the app's account", account)) }
        return rows
    }

    /// Text for an inactive access token. Google and the server can differ for a while.
    private static func inactive(_ link: AccountLink) -> String {
        let words = "the access token is not active"
        guard link.status == .linked else { return words }
        return
            "\(words). Google learns why when it refreshes the token, or from a security event of the server."
    }
}
