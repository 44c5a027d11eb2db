import AppleAccounts
import AppleEmulator
import EmulatorServer
import Foundation
import Pages
import ReceiverEmulator
import ScriptedHTTP
import TestSupport
import Testing

@testable import Console
@testable import GoogleEmulator
@testable import siwa_dev

/// The pages of the fakes in `siwa dev`, with a service that always gives the same answer.
@Suite struct WorldPagesTests {
    private static let account = AccountID(UniqueID(high: 1, low: 2)).rawValue
    private static let keys = Task { try await SigningKey.generate(count: 1) }

    private static func with(
        _ body: (_ world: DevelopmentFakes, _ service: ScriptedServer) async throws -> Void
    ) async throws {
        let service = try await ScriptedServer(always: .json(#"{"account":{"id":"\#(account)"}}"#))
        var configuration = try EmulatorConfiguration(
            teamID: "A1B2C3D4E5", clientIDs: ["com.example.app", "com.example.web"])
        configuration.keys = try await keys.value
        let apple = try await EmulatedApple(configuration: configuration, clock: .system, logger: .silent)
        try apple.state.setNotificationURL("\(service.baseURL)/v1/apple/notifications")
        let google = try await GoogleEmulatorService(
            configuration: GoogleEmulatorConfiguration(
                clientID: "google", clientSecret: "a secret of the test", scopes: ["openid"]),
            clock: .system, logger: .silent)
        google.state.connect(to: LinkedServer(issuer: service.baseURL))
        let receivers = try ReceiverEmulatorService(
            configuration: ReceiverEmulatorConfiguration(
                secrets: [DevelopmentReceivers.secret], audience: DevelopmentReceivers.audience),
            clock: .system, logger: .silent)
        let world = DevelopmentFakes(
            apple: apple, google: google, receivers: receivers,
            clientIDs: ["com.example.app", "com.example.web"], secret: "key")
        world.connect(to: service.baseURL)
        try await body(world, service)
        try await service.close()
    }

    private static func request(
        parameters: [String: String] = [:], form: [String: String] = [:]
    ) -> ConsoleRequest {
        ConsoleRequest(
            requestID: "r", parameters: parameters, form: form,
            viewer: ConsoleViewer(name: "developer", scope: .all, isDevelopment: true, formToken: "token"),
            now: Moment(milliseconds: 1_764_100_000_000))
    }

    private static func answer(
        _ world: DevelopmentFakes, _ method: ConsolePage.Method, _ path: String,
        parameters: [String: String] = [:], form: [String: String] = [:]
    ) async throws -> ConsoleAnswer {
        let page = try #require(
            WorldPages(world: world).pages.first { $0.method == method && $0.path == path })
        return try await page.handle(request(parameters: parameters, form: form))
    }

    private static func card(_ world: DevelopmentFakes) -> String {
        WorldPages(world: world).overviewCard(request()).string
    }

    @Test func `each page is for development alone, and needs no weaker policy than the console's`()
        async throws
    {
        try await Self.with { world, _ in
            try Self.link(world)
            for page in WorldPages(world: world).pages {
                guard case .development = page.access else {
                    Issue.record("\(page.path)")
                    continue
                }
                guard page.method == .get,
                    case .page(_, _, let content) = try await page.handle(Self.request())
                else { continue }
                #expect(!content.string.contains("style="), "\(page.path)")
                #expect(
                    content.string.firstMatch(of: /<style|\son[a-z]+=|javascript:|<script/) == nil,
                    "\(page.path)")
            }
        }
    }

    @Test(arguments: [
        ("siwa-3", true), ("apple-12", true), ("apple-0", false), ("other-3", false), ("siwa-x", false),
    ])
    func `says of an exchange that it is not kept any more`(id: String, wasOne: Bool) async throws {
        try await Self.with { world, _ in
            switch try await Self.answer(world, .get, "/world/exchanges/{id}", parameters: ["id": id]) {
            case .refused(let sentence): #expect(wasOne && sentence.contains("not kept any more"))
            case .notFound: #expect(!wasOne)
            case .page, .document, .redirect: Issue.record("there is no such exchange")
            }
        }
    }

    @Test func `shows the links of Google with their state, and what can be done with each`() async throws {
        try await Self.with { world, _ in
            try Self.link(world)
            guard case .page(_, _, let page) = try await Self.answer(world, .get, "/world/google") else {
                Issue.record("no page")
                return
            }
            let html = page.string
            for words in [
                "<span class=\"good\">linked</span>", "failed: access denied", "siwa said good",
                "/console/people/\(Self.account)", "token-revoked", "value=\"unlink\"",
            ] { #expect(html.contains(words), "\(words)") }
            let cards = PageTree(html)
            #expect(cards.card("Links") != nil && cards.card("Reports of siwa") != nil)
            // A link that failed has nothing to use.
            #expect(html.split(separator: "<button").count == 4)
        }
    }

    /// A link that Google uses, one that failed, and a report about the first.
    private static func link(_ world: DevelopmentFakes) throws {
        let state = try #require(world.google?.state)
        state.update { google in
            let link = google.links.add(.browser, .linked)
            google.links.change(link.id) {
                ($0.accessToken, $0.refreshToken, $0.expiresAt) = ("a", "r", 1_764_100_003)
                ($0.scope, $0.account, $0.isActive) = ("openid", account, true)
            }
            google.links.add(.appFlip, .failed(error: "access_denied"))
            google.inbox.add(
                ReceivedEvent(
                    jti: "1", type: "token-revoked", issuedAt: 0, tokenHash: "", linkID: link.id,
                    deliveries: 1))
        }
    }

    @Test func `a use of a link says what siwa answered, and a failure leads to the page that shows it`()
        async throws
    {
        try await Self.with { world, _ in
            try Self.link(world)
            guard
                case .redirect("/world/google", "Google used link 1: siwa answered 200.") =
                    try await Self.answer(world, .post, "/world/google", form: ["use": "call", "link": "1"]),
                case .refused("There is no such link any more.") =
                    try await Self.answer(world, .post, "/world/google", form: ["use": "call", "link": "9"]),
                case .refused =
                    try await Self.answer(world, .post, "/world/google", form: ["use": "x", "link": "1"]),
                case .redirect("/world/exchanges", "It failed.") = try await WorldPages.action(
                    "/world", { _ in throw DevelopmentWorldError("It failed.", page: "/world/exchanges") }
                ).handle(Self.request())
            else {
                Issue.record("another answer")
                return
            }
        }
    }

    @Test func `marks the key with which Google signs`() async throws {
        try await Self.with { world, _ in
            let answer = try await Self.answer(world, .get, "/world/keys")
            guard case .page(_, _, let content) = answer else {
                Issue.record("no page")
                return
            }
            let card = try #require(PageTree(content.string).card("Google's keys"))
            #expect(card.all("span", "badge").map(\.text) == ["signs"])
        }
    }

    @Test func `the buttons of the overview act`() async throws {
        try await Self.with { world, service in
            let card = Self.card(world)
            for words in ["New person signs in", "Link with Google", "Person stops using the app"] {
                #expect(card.contains("<button>\(words)</button>"), "\(words)")
            }
            #expect(card.contains("name=\"csrf\" value=\"token\""))
            #expect(card.contains("Break: Apple&#39;s token endpoint answers after 5 s"))
            #expect(!card.contains("Faults that are on") && !card.contains("<details open>"))
            for path in ["/overview/sign-in", "/overview/stop"] {
                guard case .redirect("/overview", let notice?) = try await Self.answer(world, .post, path)
                else {
                    Issue.record("\(path)")
                    continue
                }
                #expect(notice.hasPrefix("Emil Berg has "))
            }
            #expect(
                service.requests.map { $0.prefix { $0 != "\r\n" } } == [
                    "POST /v1/sign-ins HTTP/1.1", "POST /v1/apple/notifications HTTP/1.1",
                ])
            guard case .refused = try await Self.answer(world, .post, "/overview/stop") else {
                Issue.record("no person uses the app any more")
                return
            }
            let fault = "apple_token_slow"
            for form in [["on": "1"], ["fault": "other", "on": "1", "then": "/overview"]] {
                guard case .refused = try await Self.answer(world, .post, "/world/faults", form: form)
                else {
                    Issue.record("a wrong form was taken")
                    return
                }
            }
            #expect(world.apple.state.faults.isEmpty)
            _ = try await Self.answer(
                world, .post, "/world/faults", form: ["fault": fault, "on": "1", "then": "/overview"])
            #expect(world.apple.state.faults[.token]?.delayMilliseconds == 5000)
            // A fault that is on is seen without opening anything.
            let broken = Self.card(world)
            #expect(broken.contains("Faults that are on") && broken.contains("<details open>"))
            #expect(broken.contains("aria-label=\"Mend: Apple&#39;s token endpoint answers after 5 s\""))
        }
    }

    @Test func `a fault that the cache hides says so, and what shows it is beside it`() async throws {
        try await Self.with { world, _ in
            #expect(!Self.card(world).contains("Replace all keys"))
            guard
                case .redirect("/overview", let notice?) = try await Self.answer(
                    world, .post, "/world/faults",
                    form: ["fault": "apple_keys_unreachable", "on": "1", "then": "/overview"])
            else {
                Issue.record("no notice")
                return
            }
            #expect(notice.contains("still has the keys in its cache") && notice.contains("replace all keys"))
            let broken = Self.card(world)
            #expect(broken.contains("action=\"/console/world/keys\"") && broken.contains("value=\"apple\""))
            #expect(broken.contains(">Replace all keys</button>"))
        }
    }

    @Test func `without a client of Google nothing is linked`() async throws {
        try await Self.with { world, service in
            let other = DevelopmentFakes(
                apple: world.apple, google: nil, receivers: world.receivers, clientIDs: world.clientIDs,
                secret: "key")
            other.connect(to: service.baseURL)
            guard case .refused(let sentence) = try await Self.answer(other, .post, "/overview/link") else {
                Issue.record("linked")
                return
            }
            #expect(sentence.contains("Google's client is not configured"))
            #expect(!other.faults.contains { $0.group == .google } && service.requests.isEmpty)
        }
    }
}

extension WorldExchange {
    fileprivate static func sample(
        _ number: Int, _ step: ExchangeStep, _ title: String, status: Int?, from begin: UInt64, to end: UInt64
    ) -> WorldExchange {
        WorldExchange(
            source: .apple,
            exchange: Exchange(
                number: number, step: step, title: title, request: "GET /", response: "", status: status,
                at: 1_767_225_600_123, span: ExchangeSpan(begin: begin, end: end), requestID: nil))
    }
}

@Suite struct SequenceDiagramTests {
    private static func exchange(
        _ id: Int, _ from: ExchangeStep.Party, _ to: ExchangeStep.Party, _ begin: UInt64, _ end: UInt64,
        status: Int? = 200, standard: String = "RFC 6749 §4.1.3", isOneWay: Bool = false
    ) -> WorldExchange {
        .sample(
            id, ExchangeStep(from, to, standard, isOneWay: isOneWay), "Step \(id)", status: status,
            from: begin * 1_000_000, to: end * 1_000_000)
    }

    @Test func `what happens within an exchange is between its request and its answer`() {
        let diagram = SequenceDiagram([
            Self.exchange(1, .browser, .siwa, 0, 30), Self.exchange(2, .siwa, .apple, 10, 20),
        ])
        let page = PageTree(diagram.html.string)
        #expect(page.all("a").map { $0.attributes["href"] } == [1, 2, 2, 1].map(Self.path))
        #expect(diagram.arrows.map(\.isResponse) == [false, false, true, true])
        #expect(diagram.arrows.map(\.y) == diagram.arrows.map(\.y).sorted())
        #expect(Set(diagram.arrows.map(\.y)).count == 4)
        let sections = Self.numbers("y", of: page.all("text", "standard"))
        #expect(sections.count == 2 && diagram.lifelineEnd > sections.max() ?? .max)
        #expect(Set(Self.numbers("y2", of: page.all("line", "lifeline"))) == [diagram.lifelineEnd])
        #expect(diagram.height > diagram.lifelineEnd)
    }

    @Test func `an arrow goes from its sender's column to its receiver's, and the answer back`() throws {
        let diagram = SequenceDiagram([Self.exchange(1, .google, .siwa, 0, 12)])
        let page = PageTree(diagram.html.string)
        let columns = Self.numbers("x", of: page.all("text", "lane-title"))
        let (google, siwa) = (columns[1], columns[2])
        let (request, response) = (diagram.arrows[0], diagram.arrows[1])
        #expect(Self.numbers("x1", of: page.all("line", "arrow")) == [google, siwa])
        let heads = page.all("polygon", "head").map { $0.attributes["points", default: ""] }
        #expect(heads[0].hasPrefix("\(siwa),") && heads[1].hasPrefix("\(google),"))
        let ends = Self.numbers("x2", of: page.all("line", "arrow"))
        #expect(ends[0] < siwa && ends[1] > google)
        #expect((request.text, request.standard) == ("Step 1", "RFC 6749 §4.1.3"))
        #expect((response.text, response.standard) == ("200 in 12 ms", nil))
        #expect(request.time == "00:00:00.123" && response.time == nil)
        #expect(request.label == "00:00:00.123 Google to siwa: Step 1, RFC 6749 §4.1.3")
        #expect(response.label == "siwa to Google: answer to Step 1, 200 in 12 ms")
    }

    @Test(arguments: [(200, false), (303, false), (400, true), (503, true), (nil, true)] as [(Int?, Bool)])
    func `a refused or lost answer is marked`(status: Int?, isBad: Bool) {
        let diagram = SequenceDiagram([Self.exchange(1, .siwa, .apple, 0, 1, status: status)])
        #expect(diagram.arrows.map(\.isBad) == [false, isBad])
        #expect(diagram.arrows[1].text == status.map { "\($0) in 1.0 ms" } ?? "no answer")
    }

    @Test func `a step that leads the browser has no answer`() {
        let diagram = SequenceDiagram([
            Self.exchange(1, .google, .browser, 0, 0, status: nil, isOneWay: true)
        ])
        #expect(diagram.arrows.map(\.isResponse) == [false])
        #expect(diagram.arrows.map(\.isBad) == [false])
    }

    @Test func `a pause is shown, and nothing is drawn over it`() throws {
        let diagram = SequenceDiagram([
            Self.exchange(1, .browser, .siwa, 0, 1), Self.exchange(2, .browser, .siwa, 125_000, 125_001),
        ])
        let pause = try #require(diagram.pauses.first)
        #expect(diagram.pauses.count == 1 && pause.text == "2 min later")
        let words = Self.numbers("y", of: PageTree(diagram.html.string).all("text", "words"))
        #expect(diagram.arrows[1].y < pause.y && pause.y < words[2] - 10)
    }

    @Test func `a long title is cut to the arrow`() {
        let title = String(repeating: "long ", count: 30)
        let exchange = WorldExchange.sample(
            1, ExchangeStep(.browser, .apple, ""), title, status: 200, from: 0, to: 1)
        let text = SequenceDiagram([exchange]).arrows[0].text
        #expect(text.count <= 3 * 34 && text.hasSuffix("…"))
    }

    @Test(arguments: [
        ("RFC 6749 §4.1.3", "https://www.rfc-editor.org/rfc/rfc6749#section-4.1.3"),
        ("OpenID Connect Core §3.1.2", nil), ("Apple: TN3159", nil), ("", nil),
    ])
    func `a section of an RFC has an address`(standard: String, url: String?) {
        #expect(Self.exchange(1, .siwa, .apple, 0, 1, standard: standard).standardURL == url)
    }

    @Test func `without exchanges only the columns are drawn`() {
        let diagram = SequenceDiagram([])
        let lanes = PageTree(diagram.html.string).all("rect", "lane")
        #expect(diagram.arrows.isEmpty && diagram.pauses.isEmpty && lanes.count == 4)
    }

    private static func numbers(_ attribute: String, of elements: [PageTree]) -> [Int] {
        elements.compactMap { $0.attributes[attribute].flatMap { Int($0) } }
    }

    private static func path(_ id: Int) -> String { "/console/world/exchanges/apple-\(id)" }
}

@Suite struct RepeatedExchangesTests {
    private static func exchange(
        _ id: Int, _ from: ExchangeStep.Party = .siwa, _ title: String = "Fetch Apple's keys",
        status: Int? = 200, isRoutine: Bool = false
    ) -> WorldExchange {
        .sample(
            id, ExchangeStep(from, .apple, "", isRoutine: isRoutine), title, status: status, from: UInt64(id),
            to: UInt64(id))
    }

    @Test func `what fails once more is hidden until it succeeds, and other steps are not`() {
        let all = [
            Self.exchange(1, status: 503), Self.exchange(2, status: nil), Self.exchange(3, status: 503),
            Self.exchange(4, .siwa, "Exchange Apple's code", status: 400), Self.exchange(5),
            Self.exchange(6), Self.exchange(7, status: 503), Self.exchange(8, isRoutine: true),
        ]
        #expect(all.repeated == ["apple-2", "apple-3", "apple-8"])
    }

    @Test func `what people do again is shown`() {
        let all = [1, 2, 3].map { Self.exchange($0, .browser, "Sign in", status: 401) }
        #expect(all.repeated.isEmpty)
    }
}
