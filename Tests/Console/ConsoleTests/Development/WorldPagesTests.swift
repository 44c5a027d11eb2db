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
