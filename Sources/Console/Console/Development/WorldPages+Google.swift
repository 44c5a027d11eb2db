import AppleAccounts
import Encodings

extension WorldPages {
    private static let path = WorldTabs.Place.google.rawValue

    var googlePages: [ConsolePage] {
        [
            ConsolePage(.get, Self.path, access: .development) { request in
                .page(
                    template: "world-google", title: "Google", values: GoogleValues(request, world: world),
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

    init(_ request: ConsoleRequest, world: any FakeWorld) {
        let csrf = request.viewer.formToken
        hasGoogle = world.hasGoogle
        links = world.links.reversed().map { Link($0, csrf: csrf, now: request.now.milliseconds) }
        hasLinks = !links.isEmpty
        reports = world.reports.reversed().map { report in
            Report(
                time: RFC3339.text(milliseconds: report.at), type: report.type, link: report.link,
                deliveries: report.deliveries)
        }
        hasReports = !reports.isEmpty
    }
}

extension GoogleValues.Link {
    init(_ link: WorldLink, csrf: String, now: Int64) {
        (id, mode, scope) = (link.id, link.mode.replacing("_", with: " "), link.scope)
        (state, style) = (link.state.replacing("_", with: " "), link.isLinked ? "good" : "warn")
        account = link.account.flatMap { AccountID($0)?.rawValue }
        var words = "none"
        if let end = link.expiresAt {
            words =
                end > now ? "until \(SequenceDiagram.time(end))" : "over since \(SequenceDiagram.time(end))"
            if let isActive = link.isActive {
                words += isActive ? ", siwa said good" : ", siwa said not good"
            }
        }
        accessToken = words
        refreshToken = link.hasRefreshToken ? "held" : "none"
        uses = WorldLinkUse.allCases.filter { use in
            switch use {
            case .refresh: link.hasRefreshToken
            case .call: link.expiresAt != nil
            case .unlink: link.isLinked
            }
        }.map { use in
            GoogleValues.Use(
                name: use.rawValue, title: use.title, style: use == .unlink ? "danger" : "quiet",
                link: link.id, csrf: csrf)
        }
    }
}
