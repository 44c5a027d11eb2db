import AppleAccounts
import PageTemplates
import Testing

@testable import Console

@Suite struct WorldPagesTests {
    private static func answer(
        _ method: ConsolePage.Method, _ path: String, parameters: [String: String] = [:],
        form: [String: String] = [:]
    ) async throws -> ConsoleAnswer {
        let page = try #require(
            WorldPages(StillWorld()).pages.first { $0.method == method && $0.path == path })
        return try await page.handle(
            ConsoleRequest(
                requestID: "r", parameters: parameters, form: form,
                viewer: ConsoleViewer(
                    name: "developer", scope: .all, isDevelopment: true, formToken: "token"),
                now: Moment(milliseconds: 1_764_100_000_000)))
    }

    @Test(arguments: [
        ("siwa-3", true), ("apple-12", true), ("apple-0", false), ("other-3", false), ("siwa-x", false),
    ])
    func `says of an exchange that it is not kept any more`(id: String, wasOne: Bool) async throws {
        switch try await Self.answer(.get, "/world/exchanges/{id}", parameters: ["id": id]) {
        case .refused(let sentence): #expect(wasOne && sentence.contains("not kept any more"))
        case .notFound: #expect(!wasOne)
        case .page, .document, .redirect: Issue.record("there is no such exchange")
        }
    }

    @Test func `shows the links of Google with their state, and what can be done with each`() async throws {
        guard case .page(let template, _, let values, _) = try await Self.answer(.get, "/world/google") else {
            Issue.record("no page")
            return
        }
        let html = try #require(try Templates.library().render(template, values))
        for words in [
            "<span class=\"good\">linked</span>", "failed: access denied", "siwa said good",
            "/console/people/\(StillWorld.account)", "token-revoked", "value=\"unlink\"",
        ] { #expect(html.contains(words), "\(words)") }
        // A link that failed has nothing to use.
        #expect(html.split(separator: "<button").count == 4)
    }

    @Test func `a use of a link says what siwa answered, and a failure leads to the exchanges`() async throws
    {
        guard
            case .redirect("/world/google", "refresh of 1") = try await Self.answer(
                .post, "/world/google", form: ["use": "refresh", "link": "1"]),
            case .redirect("/world/exchanges", "It failed.") = try await Self.answer(
                .post, "/world/google", form: ["use": "call", "link": "1"]),
            case .refused = try await Self.answer(.post, "/world/google", form: ["use": "x", "link": "1"])
        else {
            Issue.record("another answer")
            return
        }
    }
}

/// A fake world in which nothing happens.
private struct StillWorld: FakeWorld {
    static let account = AccountID(UniqueID(high: 1, low: 2)).rawValue

    let clientIDs = ["com.example.app"]
    let hasGoogle = true
    let clock: (now: Int64, aheadBy: Int64) = (0, 0)
    let keys: [WorldKey] = []
    let faults: [DevelopmentFault] = []
    let faultGroups: [WorldFaultGroup] = []
    let outbox = WorldOutbox(isHolding: false, waiting: [], sent: [])
    let exchanges: [WorldExchange] = []
    let links = [
        WorldLink(
            id: "1", mode: "browser", state: "linked", isLinked: true, scope: "openid", account: account,
            expiresAt: 1_764_100_003_000, hasRefreshToken: true, isActive: true),
        WorldLink(
            id: "2", mode: "app_flip", state: "failed: access_denied", isLinked: false, scope: nil,
            account: nil, expiresAt: nil, hasRefreshToken: false, isActive: nil),
    ]
    let reports = [WorldReport(type: "token-revoked", at: 0, link: "1", deliveries: 1)]

    func newPersonSignsIn() throws -> DevelopmentOutcome { throw nothing }
    func linkWithGoogle() throws -> DevelopmentOutcome { throw nothing }
    func personStopsUsingTheApp() throws -> DevelopmentOutcome { throw nothing }
    func switchFault(named name: String, isOn: Bool) -> Bool { false }
    func people(matching search: String, from offset: Int) -> WorldPeople {
        WorldPeople([], found: 0, offset: offset)
    }
    func person(_ subject: String) -> WorldPerson? { nil }
    func makePerson(_ person: NewWorldPerson) throws -> WorldPerson { throw nothing }
    func editPerson(_ subject: String, _ person: NewWorldPerson) throws { throw nothing }
    func carryOut(_ action: WorldAction, of subject: String) throws -> DevelopmentOutcome { throw nothing }
    func advanceClock(bySeconds seconds: Int64) throws { throw nothing }
    func change(_ change: WorldKeyChange, of party: WorldExchange.Party, key: String?) throws {
        throw nothing
    }
    func holdNotifications(_ isHolding: Bool) throws { throw nothing }
    func releaseNotifications(_ order: WorldReleaseOrder) -> Int { 0 }

    func carryOut(_ use: WorldLinkUse, of link: String) throws -> String {
        guard use != .call else { throw DevelopmentWorldError("It failed.", page: "/world/exchanges") }
        return "\(use.rawValue) of \(link)"
    }

    private var nothing: DevelopmentWorldError { DevelopmentWorldError("Nothing happens here.") }
}

@Suite struct SequenceDiagramTests {
    private static func exchange(
        _ id: String, _ from: WorldExchange.Party, _ to: WorldExchange.Party, _ begin: UInt64, _ end: UInt64,
        status: Int? = 200, standard: String = "RFC 6749 §4.1.3", isOneWay: Bool = false
    ) -> WorldExchange {
        WorldExchange(
            id: id, from: from, to: to, title: "Step \(id)", standard: standard, request: "GET /",
            response: "",
            status: status, at: 1_767_225_600_123, begin: begin * 1_000_000, end: end * 1_000_000,
            isOneWay: isOneWay)
    }

    @Test func `what happens within an exchange is between its request and its answer`() {
        let diagram = SequenceDiagram([
            Self.exchange("outer", .browser, .siwa, 0, 30), Self.exchange("inner", .siwa, .apple, 10, 20),
        ])
        #expect(diagram.arrows.map(\.href) == ["outer", "inner", "inner", "outer"].map(Self.path))
        #expect(diagram.arrows.map(\.isResponse) == [false, false, true, true])
        #expect(diagram.arrows.map(\.y) == diagram.arrows.map(\.y).sorted())
        #expect(Set(diagram.arrows.map(\.y)).count == 4)
        #expect(diagram.lifelineEnd > diagram.arrows.map(\.standardY).max() ?? 0)
        #expect(diagram.height > diagram.lifelineEnd)
    }

    @Test func `an arrow goes from its sender's column to its receiver's, and the answer back`() throws {
        let diagram = SequenceDiagram([Self.exchange("1", .google, .siwa, 0, 12)])
        let (google, siwa) = (diagram.lanes[1].x, diagram.lanes[2].x)
        let (request, response) = (diagram.arrows[0], diagram.arrows[1])
        #expect((request.from, response.from) == (google, siwa))
        #expect(request.head.hasPrefix("\(siwa),") && response.head.hasPrefix("\(google),"))
        #expect(request.to < siwa && response.to > google)
        #expect((request.text, request.standard) == ("Step 1", "RFC 6749 §4.1.3"))
        #expect((response.text, response.standard) == ("200 in 12 ms", nil))
        #expect(request.time == "00:00:00.123" && response.time.isEmpty)
        #expect(request.label == "00:00:00.123 Google to siwa: Step 1, RFC 6749 §4.1.3")
        #expect(response.label == "siwa to Google: answer to Step 1, 200 in 12 ms")
    }

    @Test(arguments: [(200, false), (303, false), (400, true), (503, true), (nil, true)] as [(Int?, Bool)])
    func `a refused or lost answer is marked`(status: Int?, isBad: Bool) {
        let diagram = SequenceDiagram([Self.exchange("1", .siwa, .apple, 0, 1, status: status)])
        #expect(diagram.arrows.map(\.isBad) == [false, isBad])
        #expect(diagram.arrows[1].text == status.map { "\($0) in 1.0 ms" } ?? "no answer")
    }

    @Test func `a step that leads the browser has no answer`() {
        let diagram = SequenceDiagram([
            Self.exchange("1", .google, .browser, 0, 0, status: nil, isOneWay: true)
        ])
        #expect(diagram.arrows.map(\.isResponse) == [false])
        #expect(diagram.arrows.map(\.isBad) == [false])
    }

    @Test func `a pause is shown, and nothing is drawn over it`() throws {
        let diagram = SequenceDiagram([
            Self.exchange("1", .browser, .siwa, 0, 1), Self.exchange("2", .browser, .siwa, 125_000, 125_001),
        ])
        let pause = try #require(diagram.pauses.first)
        #expect(diagram.pauses.count == 1 && pause.text == "2 min later")
        #expect(diagram.arrows[1].y < pause.y && pause.y < diagram.arrows[2].textY - 10)
    }

    @Test func `a long title is cut to the arrow`() {
        let title = String(repeating: "long ", count: 30)
        let exchange = WorldExchange(
            id: "1", from: .browser, to: .apple, title: title, standard: "", request: "", response: "",
            status: 200, at: 0, begin: 0, end: 1)
        let text = SequenceDiagram([exchange]).arrows[0].text
        #expect(text.count <= 3 * 34 && text.hasSuffix("…"))
    }

    @Test(arguments: [
        ("RFC 6749 §4.1.3", "https://www.rfc-editor.org/rfc/rfc6749#section-4.1.3"),
        ("OpenID Connect Core §3.1.2", nil), ("Apple: TN3159", nil), ("", nil),
    ])
    func `a section of an RFC has an address`(standard: String, url: String?) {
        #expect(Self.exchange("1", .siwa, .apple, 0, 1, standard: standard).standardURL == url)
    }

    @Test func `without exchanges only the columns are drawn`() {
        let diagram = SequenceDiagram([])
        #expect(diagram.arrows.isEmpty && diagram.pauses.isEmpty && diagram.lanes.count == 4)
    }

    private static func path(_ id: String) -> String { "/console/world/exchanges/\(id)" }
}

@Suite struct RepeatedExchangesTests {
    private static func exchange(
        _ id: Int, _ from: WorldExchange.Party = .siwa, _ title: String = "Fetch Apple's keys",
        status: Int? = 200, isRoutine: Bool = false
    ) -> WorldExchange {
        WorldExchange(
            id: "apple-\(id)", from: from, to: .apple, title: title, standard: "", request: "", response: "",
            status: status, at: 0, begin: UInt64(id), end: UInt64(id), isRoutine: isRoutine)
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
