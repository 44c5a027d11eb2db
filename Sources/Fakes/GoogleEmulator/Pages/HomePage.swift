import EmulatorServer
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
