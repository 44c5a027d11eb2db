import AppleAccounts
import AppleIdentity
import Commits
import JOSE
import KeySets
import PageTemplates
import SignIn
import StorageConformance
import Synchronization
import Testing

@testable import Console
@testable import HTTPAPI

/// The pages about people over a store in memory, as an operator sees them.
struct PeopleUnderTest {
    static let app: ClientID = "com.example.app"
    static let other: ClientID = "com.example.other"

    let store: ReferenceStore
    let audit = RecordingAudit()
    let recent = RecentRequests(keepsExchanges: true)
    private let pages: PeoplePages
    private let isDevelopment: Bool
    private let library: TemplateLibrary
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
            signIn: signIn, oauth: nil, audit: audit, checks: CheckSchedule(),
            recent: isDevelopment ? recent : nil)
        library = try Templates.library()
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
        switch try await answer(method, path, account: account, fields, scope: scope) {
        case .page(let template, _, let values, _):
            return try #require(library.render(template, values))
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
final class RecordingAudit: ConsoleAudit {
    struct Failure: Error {}

    private let state = Mutex((entries: [ConsoleAuditEntry](), fails: false))

    var entries: [ConsoleAuditEntry] { state.withLock { $0.entries } }

    func fail() { state.withLock { $0.fails = true } }

    func record(_ entry: ConsoleAuditEntry) async throws {
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
