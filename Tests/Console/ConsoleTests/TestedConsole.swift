import AppleAccounts
import Cryptography
import Encodings
import HTTPAPI
import Logging
import NIOCore
import NIOHTTP1
import NIOPosix
import Pages
import StorageConformance
import Synchronization
import TestSupport

@testable import Console
@testable import HTTPEngine

/// A console with a few pages, and the browser of one visitor. Its clock moves by hand.
final class TestedConsole: Sendable {
    static let secret = "siwa_operator"
    static let limitedSecret = "siwa_limited"
    static let backendSecret = "siwa_backend"
    static let metricsSecret = "siwa_metrics"

    static let operatorKey = APIKey(
        name: "olga", hash: APIKeySecret.hash(secret), scope: .all, roles: [.operator])
    static let keys = [
        operatorKey,
        APIKey(
            name: "lena", hash: APIKeySecret.hash(limitedSecret),
            scope: .only(["com.example.app"]), roles: [.operator]),
        APIKey(name: "backend", hash: APIKeySecret.hash(backendSecret), scope: .all),
    ]

    let site: ConsoleSite
    let live: LiveUpdates
    private let cookies = Mutex<[String: String]>([:])

    /// State that the site reads: the keys and the clock. Beside it, the actions that its pages carried out.
    private final class World: Sendable {
        let keys = Mutex(TestedConsole.keys)
        let now = Mutex<Int64>(1_800_000_000_000)
        let actions = Mutex<[String]>([])
        let audit = Mutex<[AuditEntry]>([])
        let auditFails = Mutex(false)
    }

    /// The tickets of a database that can be away, and that can stop to take writes.
    final class Tickets: TicketStore {
        private let store = ReferenceStore()
        let isReadable = Mutex(true)
        let isWritable = Mutex(true)

        func insertTicket(_ ticket: Ticket) async throws -> Bool {
            guard isWritable.withLock({ $0 }) else { throw StorageError(.unavailable, detail: "no writes") }
            return try await store.insertTicket(ticket)
        }

        func takeTicket(
            digest: TicketDigest, purpose: TicketPurpose, at moment: Moment
        ) async throws -> [UInt8]? {
            try await store.takeTicket(digest: digest, purpose: purpose, at: moment)
        }

        func hasTicket(
            digest: TicketDigest, purpose: TicketPurpose, at moment: Moment
        ) async throws -> Bool {
            guard isReadable.withLock({ $0 }) else { throw StorageError(.unavailable, detail: "away") }
            return try await store.hasTicket(digest: digest, purpose: purpose, at: moment)
        }

        func purgeTickets(expiredBefore moment: Moment) async throws -> Int {
            try await store.purgeTickets(expiredBefore: moment)
        }
    }

    private struct AuditFailure: Error {}

    private let world: World

    /// - Parameter tickets: Shared by replicas.
    init(isDevelopment: Bool = false, sealingKeys: SealingKeyRing? = nil, tickets: Tickets = Tickets()) throws
    {
        let world = World()
        self.world = world
        let visitors: ConsoleSite.Visitors =
            isDevelopment
            ? .developers(hosts: AllowedHosts())
            : .operators(
                {
                    CallerDirectory(
                        keys: world.keys.withLock { $0 }, metricsKey: APIKeySecret.hash(Self.metricsSecret))
                },
                hosts: AllowedHosts(["console.example.com"]), sealingKeys: sealingKeys, tickets: tickets)
        let live = LiveUpdates()
        self.live = live
        site = ConsoleSite(
            pages: Self.pages(world), visitors: visitors, live: live,
            audit: {
                if world.auditFails.withLock({ $0 }) { throw AuditFailure() }
                world.audit.withLock { [entry = $0] in $0.append(entry) }
            },
            now: { Moment(milliseconds: world.now.withLock { $0 }) }, logger: .silent)
    }

    var carriedOut: [String] { world.actions.withLock { $0 } }
    /// Names of operators and their actions, with "refused" after what was refused.
    var audited: [String] {
        world.audit.withLock { entries in
            entries.map { entry in
                "\(entry.facts.actor.name ?? "") \(entry.facts.action.rawValue)"
                    + (entry.facts.outcome == .refused ? " refused" : "")
            }
        }
    }
    func stopAudit() { world.auditFails.withLock { $0 = true } }
    var now: Moment { Moment(milliseconds: world.now.withLock { $0 }) }

    func wait(milliseconds: Int64) { world.now.withLock { $0 += milliseconds } }
    func configure(_ keys: [APIKey]) { world.keys.withLock { $0 = keys } }

    private static func pages(_ world: World) -> [ConsolePage] {
        func page(
            _ path: String, _ title: String, _ access: ConsolePage.Access = .operators, order: Int? = nil,
            isLive: Bool = false
        ) -> ConsolePage {
            ConsolePage(.get, path, access: access, entry: order.map { (title, $0) }) {
                let text = $0.parameters["name"] ?? $0.query["q"] ?? "nothing"
                return .page(title, isLive: isLive, "<h1>\(title)</h1><p>\(text)</p>")
            }
        }
        struct Failure: Error {}
        return [
            page("/second", "Second", order: 20), page("/first", "First", order: 10, isLive: true),
            page("/first/fixed", "Fixed"), page("/first/{name}", "Named"),
            page("/all-apps", "All apps", .operatorsOfAllApps, order: 30),
            page("/fakes", "Fakes", .development, order: 40),
            ConsolePage(.get, "/gone", access: .operators) { _ in .notFound },
            ConsolePage(.get, "/broken", access: .operators) { _ in throw Failure() },
            ConsolePage(.post, "/first", access: .operators) { request in
                world.actions.withLock { $0.append(request.form["what"] ?? "") }
                return .redirect(to: request.form["to"] ?? "/second", notice: "Done: <b>&")
            },
            ConsolePage(.post, "/refusing", access: .operators) { _ in .refused("That is no name.") },
            ConsolePage(.post, "/all-apps", access: .operatorsOfAllApps) { _ in
                world.actions.withLock { $0.append("all apps") }
                return .redirect(to: "/")
            },
        ]
    }

    // The browser

    /// Sends a request with the cookies of earlier responses.
    @discardableResult
    func send(
        _ method: HTTPMethod, _ uri: String, body: String = "", headers: [(String, String)] = [],
        host: String = "127.0.0.1:9090", keepsCookies: Bool = true
    ) async -> HTTPResponse {
        var fields = HTTPHeaders(headers)
        if !fields.contains(name: "host") { fields.add(name: "host", value: host) }
        if method == .POST, !fields.contains(name: "content-type") {
            fields.add(name: "content-type", value: "application/x-www-form-urlencoded")
        }
        let jar = cookies.withLock { $0 }.map { "\($0.key)=\($0.value)" }.joined(separator: "; ")
        if !jar.isEmpty, !fields.contains(name: "cookie") { fields.add(name: "cookie", value: jar) }
        var request = IncomingRequest(
            head: HTTPRequestHead(version: .http1_1, method: method, uri: uri, headers: fields),
            startedAt: .now())
        var bytes = ByteBuffer(string: body)
        _ = request.append(&bytes, within: BodyMemoryBudget(most: 1 << 20))
        let (exchange, source) = ConsoleInterface(site).handle(
            request, from: nil,
            gate: AdmissionGate(
                eventLoop: MultiThreadedEventLoopGroup.singleton.any(), bounds: AdmissionBounds()))
        var end = source
        while case .work(let work) = end { end = await work() }
        guard case .response(let response) = end else {
            return HTTPResponse(status: .imATeapot, contentType: nil, body: [])
        }
        let finished = exchange.finish(response, at: .now())
        if keepsCookies { keep(finished.values(of: "set-cookie")) }
        return exchange.omitsBody
            ? HTTPResponse(status: finished.status, contentType: finished.contentType, body: []) : finished
    }

    private func keep(_ fields: [String]) {
        cookies.withLock { jar in
            for field in fields {
                let pair = field.prefix { $0 != ";" }.split(separator: "=", maxSplits: 1)
                guard let name = pair.first.map(String.init) else { continue }
                jar[name] = field.contains("Max-Age=0") ? nil : pair.count > 1 ? String(pair[1]) : ""
            }
        }
    }

    func forgetCookies() { cookies.withLock { $0 = [:] } }
    var cookie: [String: String] {
        get { cookies.withLock { $0 } }
        set { cookies.withLock { $0 = newValue } }
    }

    func get(_ uri: String, headers: [(String, String)] = []) async -> HTTPResponse {
        await send(.GET, uri, headers: headers)
    }

    @discardableResult
    func signIn(
        with secret: String = secret, origin: String = "http://127.0.0.1:9090", then: String = ""
    ) async -> HTTPResponse {
        let host = origin.split(separator: "/").last.map(String.init) ?? ""
        return await send(
            .POST, "/console/sign-in", body: "key=\(secret)&then=\(then)",
            headers: [("origin", origin), ("sec-fetch-site", "same-origin")], host: host)
    }

    /// The token in the forms of the session.
    func formToken() async throws -> String {
        let page = await get("/console/first").text
        guard let match = page.firstMatch(of: /name="csrf" value="([^"]*)"/) else {
            return site.access.visit(cookie: nil, at: now)?.viewer.formToken ?? ""
        }
        return String(match.1)
    }
}

extension HTTPResponse {
    var text: String { String(decoding: body, as: UTF8.self) }

    func values(of name: String) -> [String] {
        fields.filter { "\($0.name)" == name }.map(\.value)
    }

    var location: String? { values(of: "location").first }
}

extension ConsoleAnswer {
    /// The content of a page; `nil` for another answer.
    func html() -> String? {
        guard case .page(_, _, let content) = self else { return nil }
        return content.string
    }
}
