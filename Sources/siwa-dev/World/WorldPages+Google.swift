import AppleAccounts
import Console
import Encodings
import GoogleEmulator

extension WorldPages {
    private static let path = WorldTabs.Place.google.rawValue

    var googlePages: [ConsolePage] {
        [
            ConsolePage(.get, Self.path, access: .development) { request in
                .template(
                    "world-google", title: "Google", values: GoogleValues(request, world: world),
                    isLive: true)
            },
            ConsolePage(.post, Self.path, access: .development) { request in
                guard let use = WorldLinkUse(rawValue: request.form["use"] ?? ""),
                    let link = request.form["link"]
                else { return .refused("This is no use of a link.") }
                return try await Self.act(then: Self.path) { try await world.carryOut(use, of: link) }
            },
        ]
    }
}

/// A use of a link by the fake Google. The raw value is that of its button.
enum WorldLinkUse: String, CaseIterable {
    /// Gets a new access token.
    case refresh
    /// Calls the app's API, which asks if the access token is good.
    case call
    /// The user unlinks in the Google app.
    case unlink

    var title: String {
        switch self {
        case .refresh: "Refresh"
        case .call: "Use the access token"
        case .unlink: "Unlink at Google"
        }
    }
}

private struct GoogleValues: Sendable {
    struct Use: Sendable {
        let name: String
        let title: String
        let style: String
        let link: String
        let csrf: String
    }

    struct Link: Sendable {
        let id: String
        let mode: String
        let state: String
        let style: String
        let scope: String?
        let account: String?
        let accessToken: String
        let refreshToken: String
        let uses: [Use]
    }

    struct Report: Sendable {
        let time: String
        let type: String
        let link: String?
        let deliveries: Int
    }

    let tabs = WorldTabs(.google)
    let hasGoogle: Bool
    let hasLinks: Bool
    let links: [Link]
    let hasReports: Bool
    let reports: [Report]

    init(_ request: ConsoleRequest, world: DevelopmentFakes) {
        let csrf = request.viewer.formToken
        hasGoogle = world.google != nil
        links = (world.google?.state.links ?? []).reversed().map {
            Link($0, csrf: csrf, now: request.now.milliseconds)
        }
        hasLinks = !links.isEmpty
        reports = (world.google?.state.receivedEvents ?? []).reversed().map { event in
            Report(
                time: RFC3339.text(milliseconds: event.issuedAt * 1000), type: event.type,
                link: event.linkID, deliveries: event.deliveries)
        }
        hasReports = !reports.isEmpty
    }
}

extension GoogleValues.Link {
    init(_ link: AccountLink, csrf: String, now: Int64) {
        (id, mode, scope) = (link.id, link.mode.rawValue.replacing("_", with: " "), link.scope)
        var word = link.status.word
        if case .failed(let error) = link.status { word += ": \(error)" }
        let isLinked = link.status == .linked
        (state, style) = (word.replacing("_", with: " "), isLinked ? "good" : "warn")
        account = link.account.flatMap { AccountID($0)?.rawValue }
        var words = "none"
        if let end = link.expiresAt.map({ $0 * 1000 }) {
            words =
                end > now ? "until \(SequenceDiagram.time(end))" : "over since \(SequenceDiagram.time(end))"
            if let isActive = link.isActive {
                words += isActive ? ", siwa said good" : ", siwa said not good"
            }
        }
        accessToken = words
        refreshToken = link.refreshToken != nil ? "held" : "none"
        uses = WorldLinkUse.allCases.filter { use in
            switch use {
            case .refresh: link.refreshToken != nil
            case .call: link.expiresAt != nil
            case .unlink: isLinked
            }
        }.map { use in
            GoogleValues.Use(
                name: use.rawValue, title: use.title, style: use == .unlink ? "danger" : "quiet",
                link: link.id, csrf: csrf)
        }
    }
}
