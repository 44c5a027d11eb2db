import AppleAccounts
import AppleIdentity
import Commits
import Encodings
import JOSE
import KeySets
import SignIn
import StorageConformance
import Synchronization
import TestSupport
import Testing

@testable import Console
@testable import HTTPAPI

@Suite struct PeoplePagesTests {
    let people: PeopleUnderTest

    init() throws {
        people = try PeopleUnderTest()
    }

    private static let personal = ["secret@hidden", "hidden.example", "Zenobia", "Quill"]

    @Test(arguments: [
        "SECRET@hidden.example", " secret@hidden.example ", "Zenobia", "Zenobia Quill", "quill",
        "001999.0123456789abcdef.0123",
    ])
    func `finds a person by what is known, and masks name and address`(text: String) async throws {
        let account = try await people.signIn()
        try await people.signIn("001999.another.0123", email: "other@example.com")
        for field in [text, account.id.rawValue] {
            let page = try await people.text(.post, "/people", ["q": field])
            #expect(page.contains(account.id.rawValue))
            #expect(page.contains("s…@h…") && page.contains("Z… Q…"))
            for word in Self.personal where !field.uppercased().contains(word.uppercased()) {
                #expect(!page.contains(word))
            }
        }
        let none = try await people.text(.post, "/people", ["q": "nobody@example.com"])
        #expect(none.contains("No account was found") && !none.contains("No grant has this ID now"))
    }

    @Test func `says that a grant has ended where its ID finds nobody`() async throws {
        let account = try await people.signIn()
        let page = try await people.text(
            .post, "/people", ["q": GrantID(UniqueID(high: 1, low: 2)).rawValue])
        #expect(page.contains("No grant has this ID now"))
        #expect(try await people.person(account.id).contains("No grant now."))
    }

    @Test func `a search text in a URL does not count`() async throws {
        try await people.signIn()
        let page = try await people.text(.get, "/people", ["q": "nobody@example.com"])
        #expect(page.contains("s…@h…"))
        #expect(!page.contains("nobody@example.com"))
    }

    @Test func `gives the next page of the same search`() async throws {
        for number in 0..<30 {
            try await people.signIn(
                AppleSubject(stringLiteral: "person-\(number)"),
                authorizedAt: Moment(milliseconds: Int64(number) * 1_000 + 1_000_000))
        }
        let first = PageTree(try await people.text(.post, "/people", ["state": "authorized"]))
        #expect(first.rows("People").count == PeoplePages.pageSize)
        #expect(first.all("form", "pager").first?.text == "1 to 25; more follow Next page")
        let fields = try #require(first.way("Next page"))
        let second = PageTree(try await people.text(.post, "/people", fields))
        #expect(second.rows("People").count == 5)
        #expect(Set((first.rows("People") + second.rows("People")).map { $0[0] }).count == 30)
        #expect(second.way("Next page") == nil)
        #expect(second.all("form", "pager").first?.text.hasPrefix("26 to 30 of 30") == true)
        // The previous page begins where it began, whoever has signed in since.
        try await people.signIn("person-31", authorizedAt: 9_000_000)
        let back = try #require(second.way("Previous page"))
        #expect(back["from"] == "" && back["state"] == "authorized")
    }

    @Test(arguments: [
        ["state": "maybe"], ["disabled": "perhaps"], ["reason": "none"], ["created_after": "tomorrow"],
        ["state": "revoked", "from": "25-a01a1fbea-fd31-77cb-bae8-b913bd619922"],
    ])
    func `refuses a filter that no form has`(fields: [String: String]) async throws {
        try await people.signIn()
        let answer = try await people.text(.post, "/people", fields)
        #expect(answer.hasPrefix("refused"))
    }

    @Test func `masks a person until the audit log has who asked`() async throws {
        let account = try await people.signIn()
        let masked = try await people.person(account.id)
        #expect(masked.contains("s…@h…"))
        #expect(PageTree(masked).card("Account")?.fact("Address") == "s…@h…")
        for word in Self.personal { #expect(!masked.contains(word)) }
        #expect(people.audit.entries == [])

        let shown = try await people.text(.post, "/people/{account}/show", account: account.id)
        #expect(shown.contains("secret@hidden.example") && shown.contains("Zenobia Quill"))
        #expect(
            people.audit.entries == [
                AuditEntry(
                    .consoleShow, by: AuditOrigin(.consoleOperator("operator"), requestID: "request-1"),
                    at: people.now, person: AuditPerson(account.id))
            ])
    }

    @Test func `masks nothing in development, whose people are invented`() async throws {
        let people = try PeopleUnderTest(isDevelopment: true)
        let account = try await people.signIn()
        for page in [
            try await people.person(account.id), try await people.text(.get, "/people"),
        ] {
            #expect(page.contains("secret@hidden.example") && page.contains("Zenobia Quill"))
            #expect(!page.contains("masked") && !page.contains("Show name and address"))
        }
        #expect(people.audit.entries == [])
    }

    @Test func `leads in development to the requests with a token of the person`() async throws {
        func add(_ people: PeopleUnderTest, _ claims: String, status: Int) {
            let token = "e30.\(Base64URL.encode(Array(claims.utf8))).c2ln"
            people.recent.append { number in
                RecentRequest(
                    number: number, time: 0, method: "POST", route: "/v1/sign-ins", status: status,
                    code: status == 201 ? nil : "token_expired", caller: "backend", client: nil,
                    isProven: true, microseconds: 1, begin: 0, requestID: "r\(number)", traceID: nil,
                    reason: nil, grantType: nil, refusal: nil,
                    exchange: KeptExchange(
                        target: "/v1/sign-ins", contentType: "application/json", authorization: nil,
                        body: Array("{\"identity_token\":\"\(token)\"}".utf8), isBodyCut: false,
                        response: [], responseType: nil, location: nil))
            }
        }
        for isDevelopment in [true, false] {
            let people = try PeopleUnderTest(isDevelopment: isDevelopment)
            let account = try await people.signIn()
            add(people, "{\"sub\":\"\(account.subject.rawValue)\"}", status: 401)
            add(people, "{\"sub\":\"\(account.id.rawValue)\"}", status: 201)
            add(people, "{\"sub\":\"another\"}", status: 401)
            let page = try await people.person(account.id)
            for (number, isOwn) in [(1, true), (2, true), (3, false)] {
                #expect(
                    page.contains("href=\"/console/requests/\(number)\"") == (isOwn && isDevelopment),
                    "\(number)")
            }
            #expect(page.contains("token_expired") == isDevelopment)
        }
    }

    @Test func `shows nothing when the audit log cannot keep it`() async throws {
        let account = try await people.signIn()
        people.audit.fail()
        await #expect(throws: RecordingAudit.Failure.self) {
            try await people.text(.post, "/people/{account}/show", account: account.id)
        }
    }

    @Test func `escapes what users have chosen`() async throws {
        let account = try await people.store.signIn(
            .sample(email: .sample("\"<b>\"@example.com"), firstName: "<script>", lastName: "&amp;")
        ).account
        let page = try await people.text(.post, "/people/{account}/show", account: account.id)
        #expect(!page.contains("<script>") && !page.contains("<b>"))
        let search = try await people.text(.post, "/people", ["q": "\"><script>x</script>"])
        #expect(!search.contains("<script>"))
    }

    @Test func `disables, enables and signs out`() async throws {
        let account = try await people.signIn()
        let target = "redirect /people/\(account.id.rawValue)"
        let fields = ["reason": "fraud", "days": "3"]
        #expect(
            try await people.text(.post, "/people/{account}/disable", account: account.id, fields) == target)
        let disabling = try #require(try await people.store.account(account.id)?.disabling)
        #expect(disabling.reason == .fraud)
        #expect(disabling.until == people.now.advanced(byMilliseconds: 3 * 86_400_000))
        #expect(try await people.person(account.id).contains("Enable"))
        #expect(try await people.text(.post, "/people/{account}/enable", account: account.id) == target)
        #expect(try await people.store.account(account.id)?.disabling == nil)
        #expect(try await people.text(.post, "/people/{account}/sign-out", account: account.id) == target)
        #expect(try await people.store.account(account.id)?.sessionsEndedAt == people.now)
    }

    @Test(arguments: [
        ["reason": ""], ["reason": "boredom"], ["reason": "fraud", "days": "0"],
        ["reason": "fraud", "days": "-1"], ["reason": "fraud", "days": "99999999999999999999"],
    ])
    func `refuses a wrong disabling`(fields: [String: String]) async throws {
        let account = try await people.signIn()
        let answer = try await people.text(.post, "/people/{account}/disable", account: account.id, fields)
        #expect(answer.hasPrefix("refused"))
        #expect(try await people.store.account(account.id)?.disabling == nil)
    }

    @Test func `erases after a confirmation, and shows the erasure without the person`() async throws {
        let account = try await people.signIn()
        try await people.store.notify(.sample(at: 900_000))
        let question = try await people.text(.get, "/people/{account}/erase", account: account.id)
        #expect(question.contains("cannot be undone") && question.contains("form-token"))
        let hasty = try await people.text(.post, "/people/{account}/erase", account: account.id)
        #expect(hasty.hasPrefix("refused"))
        #expect(try await people.store.account(account.id) != nil)
        _ = try await people.text(.post, "/people/{account}/erase", account: account.id, ["confirm": "erase"])
        #expect(try await people.store.account(account.id) == nil)
        let page = try await people.person(account.id)
        #expect(page.contains("account_erased") && page.contains("Erasure"))
        for word in Self.personal + ["001999.0123456789abcdef.0123", "withdrawn"] {
            #expect(!page.contains(word))
        }
        #expect(!page.contains("/show") && !page.contains("/disable"))
        let show = try await people.text(.post, "/people/{account}/show", account: account.id)
        #expect(show == "not found")
        #expect(people.audit.entries == [])
    }
}

/// The pages about people over a store in memory, as an operator sees them.
struct PeopleUnderTest {
    static let app: ClientID = "com.example.app"
    static let other: ClientID = "com.example.other"

    let store: ReferenceStore
    let audit = RecordingAudit()
    let recent = RecentRequests(keepsExchanges: true)
    private let pages: PeoplePages
    private let isDevelopment: Bool
    let now: Moment

    init(now: Moment = 5_000_000, isDevelopment: Bool = false) throws {
        let store = ReferenceStore()
        let feed = EventFeed()
        let team: TeamID = "A1B2C3D4E5"
        let signIn = SignInUseCases(
            deployment: try Deployment(apps: [
                App(team: team, primaryClientID: Self.app), App(team: team, primaryClientID: Self.other),
            ]),
            policy: VerificationPolicy(clientIDs: []), keys: NoKeys(), store: store,
            commits: GroupCommit<AccountCommand>(store: store, feed: feed), feed: feed,
            tokenContext: AppleTokenContext(tokens: store), nonceKey: .sample(), now: { now })
        self.isDevelopment = isDevelopment
        pages = PeoplePages(
            signIn: signIn, oauth: nil, audit: audit.record, checks: CheckSchedule(),
            recent: isDevelopment ? recent : nil)
        (self.store, self.now) = (store, now)
    }

    func answer(
        _ method: ConsolePage.Method, _ path: String, account: AccountID? = nil,
        _ fields: [String: String] = [:], scope: AppScope = .all
    ) async throws -> ConsoleAnswer {
        let page = try #require(pages.pages.first { $0.method == method && $0.path == path })
        return try await page.handle(
            ConsoleRequest(
                requestID: "request-1", parameters: account.map { ["account": $0.rawValue] } ?? [:],
                query: method == .get ? fields : [:], form: method == .post ? fields : [:],
                viewer: ConsoleViewer(
                    name: "operator", scope: scope, isDevelopment: isDevelopment, formToken: "form-token"),
                now: now))
    }

    /// Returns the HTML of a page; the name of any other answer.
    func text(
        _ method: ConsolePage.Method, _ path: String, account: AccountID? = nil,
        _ fields: [String: String] = [:], scope: AppScope = .all
    ) async throws -> String {
        let answer = try await answer(method, path, account: account, fields, scope: scope)
        switch answer {
        case .page: return try #require(answer.html())
        case .document: return "document"
        case .redirect(let target, _): return "redirect \(target)"
        case .notFound: return "not found"
        case .refused(let sentence): return "refused: \(sentence)"
        }
    }

    func person(_ id: AccountID, scope: AppScope = .all) async throws -> String {
        try await text(.get, "/people/{account}", account: id, scope: scope)
    }

    /// A user with a name and an address that no page may show by itself.
    @discardableResult
    func signIn(
        _ name: AppleSubject = "001999.0123456789abcdef.0123", to app: ClientID = app,
        authorizedAt: Moment = 1_000_000, receivedAt: Moment? = nil, email: String = "secret@hidden.example"
    ) async throws -> Account {
        try await store.signIn(
            .sample(
                key: .sample(name), clientID: app, authorizedAt: authorizedAt, email: .sample(email),
                firstName: "Zenobia", lastName: "Quill",
                receivedAt: receivedAt ?? authorizedAt.advanced(byMilliseconds: 5_000))
        ).account
    }
}

/// An audit log that can fail.
final class RecordingAudit: Sendable {
    struct Failure: Error {}

    private let state = Mutex((entries: [AuditEntry](), fails: false))

    var entries: [AuditEntry] { state.withLock { $0.entries } }

    func fail() { state.withLock { $0.fails = true } }

    func record(_ entry: AuditEntry) async throws {
        try state.withLock { state in
            guard !state.fails else { throw Failure() }
            state.entries.append(entry)
        }
    }
}

/// A key set that could not be fetched: no page verifies anything.
private struct NoKeys: VerificationKeys {
    func cachedKey(for keyID: String) -> RSAPublicKey? { nil }
    func key(for keyID: String) async throws(KeySetError) -> RSAPublicKey {
        throw KeySetError(.keysUnavailable)
    }
    var health: KeySetHealth { KeySetHealth(status: .unavailable(.unreachable), keyCount: 0) }
}
