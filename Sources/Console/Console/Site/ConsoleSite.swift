// Console owns the pages for developers and operators: the page list, the page frame, access and protection.
// It owns no rules about accounts and decides nothing about them, because pages call use cases and stores.

public import AppleAccounts
public import Cryptography
public import Encodings
public import HTTPAPI
package import HTTPEngine
public import Logging
import NIOCore
import NIOHTTP1
import OAuth
import Pages

/// The console: finds a request's page, decides whether the visitor may open it, and creates the response.
///
/// `siwa dev` serves it on the API port, and a service in production on a separate port (`ConsoleServer`).
public final class ConsoleSite: Sendable {
    /// The path prefix of all pages.
    static let root = "/console"

    /// The visitors that the console admits.
    public enum Visitors: Sendable {
        /// Everyone who can reach the console is treated as a developer. Used by `siwa dev`, which listens
        /// only on this machine.
        case developers(hosts: AllowedHosts)
        /// Operators, who sign in with an API key that has the `operator` role. The first value returns the
        /// current API keys. Without sealing keys, the process creates a key for session cookies, so its
        /// sessions end when the process ends, and other replicas do not accept them. The tickets record
        /// which sessions ended early.
        case operators(
            @Sendable () -> CallerDirectory, hosts: AllowedHosts, sealingKeys: SealingKeyRing?,
            tickets: any TicketStore)
    }

    let access: ConsoleAccess
    let routes: ConsoleRoutes
    let frame: ConsoleFrame
    let live: LiveUpdates
    let audit: ConsoleAudit?
    let monitor: OverviewMonitor?
    let log: ConsoleLog
    let now: @Sendable () -> Moment

    /// - Parameters:
    ///   - live: Notifies open pages about changes to their data.
    ///   - audit: Records sign-ins and sign-outs.
    ///   - monitor: Supplies the current troubles for an operator whose session cannot begin.
    public init(
        pages: [ConsolePage], visitors: Visitors, live: LiveUpdates, audit: ConsoleAudit? = nil,
        monitor: OverviewMonitor? = nil, now: @escaping @Sendable () -> Moment, logger: Logger
    ) {
        access = ConsoleAccess(visitors)
        // Removes development pages in production, regardless of the visitor.
        let isDevelopment = access.isDevelopment
        let pages = pages.filter { page in
            switch page.access {
            case .development: isDevelopment
            case .operators, .operatorsOfAllApps: true
            }
        }
        routes = ConsoleRoutes(pages)
        frame = ConsoleFrame(pages)
        (self.live, self.audit, self.monitor, self.now) = (live, audit, monitor, now)
        log = ConsoleLog(logger, now: now)
    }
}

extension ConsoleSite: PageSite {
    package func serves(_ target: RequestTarget) -> Bool {
        target.path == "/" || target.path == Self.root[...] || target.path.hasPrefix(Self.root + "/")
    }

    package func handle(
        _ incoming: IncomingRequest, _ target: RequestTarget, from client: ClientAddress?
    ) -> (exchange: any HTTPExchange, source: ResponseSource) {
        let request = ConsoleVisit(
            site: self, incoming: incoming, target: target,
            address: client?.requester)
        return request.begin()
    }

    /// Returns a message inside the console's frame, for a response that is not one of the pages.
    func message(
        _ title: String, _ text: String, status: HTTPResponseStatus, code: String? = nil,
        back: (path: String, text: String)? = nil, requestID: String? = nil, viewer: ConsoleViewer? = nil,
        reload: Int? = nil, troubles: HTML = ""
    ) -> ConsoleReply {
        let content = HTML {
            "<h1>\(title)</h1>"
            "<p>\(text)</p>"
            troubles
            if let back { "<p>\(HTML.link(.text(back.text), to: back.path))</p>" }
            if let requestID { "<p class=\"muted\">Request \(HTML.code(requestID))</p>" }
        }
        let page = frame.render(content, title, at: "", for: viewer, reload: reload)
        return ConsoleReply(status: status, body: page, code: code)
    }

    /// - Parameter isOperator: True for an operator, who sees the current troubles.
    func unavailable(requestID: String, isOperator: Bool) -> HTTPResponse {
        withoutDatabase(
            "Too slow", "The page took too long. Probably the database does not answer.",
            code: "console_page_too_slow", requestID: requestID, isOperator: isOperator
        ).response
    }

    /// Returns a response that shows the current troubles, for an operator who cannot open the overview.
    func withoutDatabase(
        _ title: String, _ text: String, code: String, back: (path: String, text: String)? = nil,
        requestID: String? = nil, isOperator: Bool = true, error: (any Error)? = nil
    ) -> ConsoleReply {
        let found =
            !isOperator ? [] : (error.map { monitor?.troubles(after: $0) } ?? monitor?.knownTroubles) ?? []
        return message(
            title, text, status: .serviceUnavailable, code: code, back: back, requestID: requestID,
            troubles: found.isEmpty ? "" : found.card(at: now(), seesNumbers: false))
    }
}
