import AppleAccounts
import AppleIdentity
import StorageConformance
import StrictJSON
import Testing
import TokenMint

@testable import Commits
@testable import SignIn

@Suite struct NotificationTests {
    let subject: Subject

    init() throws {
        subject = try Subject()
        subject.setClock(3600)
    }

    private func state(_ clientID: String = "com.example.app") async throws -> Credential {
        try await subject.useCases.credential(
            subject: TokenMint.subject, clientID: clientID, allowed: .all
        ).value
    }

    @Test func `recognises a notification without identifier by its payload`() async throws {
        let unknown = try Subject.notification("surprise", at: 60, jti: nil)
        #expect(try await subject.useCases.commitNotification(unknown) == .unknownType)
        #expect(try await subject.useCases.commitNotification(unknown) == .duplicate)
    }

    @Test(
        arguments: [("email-disabled", .disabled), ("email-enabled", .enabled)] as [(String, EmailForwarding)]
    )
    func `follows the forwarding switch and the address`(
        type: String, expected: EmailForwarding
    ) async throws {
        try await subject.signIn()
        let event = JSONObject([
            ("type", .string(type)), ("sub", .string(TokenMint.subject)),
            ("event_time", .integer((TokenMint.sampleTime + 60) * 1000 + 5)),
            ("email", .string("new@privaterelay.appleid.com")), ("is_private_email", .string("true")),
        ])
        var claims = TokenMint.notificationClaims(at: TokenMint.sampleTime + 61, event: event)
        claims["jti"] = .string("jti-1")
        let payload = try TokenMint.shared.sign(claims)
        #expect(try await subject.useCases.commitNotification(payload) == .applied)
        let account = try await subject.useCases.account(
            subject: TokenMint.subject, clientID: "com.example.app", allowed: .all)
        #expect(account.emailForwarding == expected)
        #expect(account.email == "new@privaterelay.appleid.com")
        #expect(account.isPrivateEmail == true)
        #expect(account.isEmailVerified == true)
    }

    @Test func `takes what concerns a user not known here`() async throws {
        let payload = try Subject.notification(at: 60)
        #expect(try await subject.useCases.commitNotification(payload) == .applied)
        #expect(try await state().state == .revoked)
        await #expect(throws: AccountRefusal(.credentialRevoked)) { try await subject.signIn(60) }
    }

    @Test(
        arguments: [
            (["iss": .string("https://evil.example")], .issuerMismatch),
            (["aud": .string("com.unknown.app")], .audienceMismatch),
            (["events": nil], .notANotification),
            (["exp": .integer(TokenMint.sampleTime - 86400)], .tokenExpired),
        ] as [([String: JSONValue?], AppleTokenError.Code)])
    func `keeps nothing of what does not verify`(
        changes: [String: JSONValue?], code: AppleTokenError.Code
    ) async throws {
        let bad = try Subject.notification(at: 60, changes)
        await #expect(throws: AppleTokenError(code)) { try await subject.useCases.commitNotification(bad) }
        #expect(try await state().state == .notFound)
        // The identifier was not remembered either.
        let good = try Subject.notification(at: 60)
        #expect(try await subject.useCases.commitNotification(good) == .applied)
    }
}

/// An API key for some apps that repeats changes of accounts that have other apps too.
@Suite struct RefusedChangePaceTests {
    private enum Change: CaseIterable { case disable, enable, signOut, erase }

    private static func change(_ change: Change, _ id: AccountID, in subject: Subject, of apps: AppScope)
        async
    {
        let useCases = subject.useCases
        do {
            switch change {
            case .disable:
                _ = try await useCases.disable(id: id.rawValue, reason: .abuse, until: nil, allowed: apps)
            case .enable: _ = try await useCases.enable(id: id.rawValue, allowed: apps)
            case .signOut: _ = try await useCases.signOut(id: id.rawValue, keeping: [], allowed: apps)
            case .erase: _ = try await useCases.erase(id: id.rawValue, allowed: apps)
            }
            Issue.record("was not refused")
        } catch {
            #expect(error is CallerForbidden)
        }
    }

    private static func account(_ subject: Subject) async throws -> AccountID {
        let id = try await subject.signIn().account.id
        try await subject.signIn(1, ["aud": .string("com.example.other")])
        return id
    }

    @Test func `twenty refused changes of a key within an hour have a row, and no more`() async throws {
        let subject = try Subject()
        let id = try await Self.account(subject)
        let apps = AppScope.only(["com.example.app"])
        func rows() async throws -> Int {
            try await subject.store.verifiedAudit().count { $0.facts.outcome == .refused }
        }
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<100 {
                group.addTask {
                    await AuditOrigin.$current.withValue(AuditOrigin(.apiKey("limited"))) {
                        await Self.change(Change.allCases[number % 4], id, in: subject, of: apps)
                    }
                }
            }
        }
        #expect(try await rows() == RefusedChangePace.most && RefusedChangePace.most == 20)
        // Another key has its own rows, and the hour ends.
        await AuditOrigin.$current.withValue(AuditOrigin(.apiKey("other"))) {
            await Self.change(.disable, id, in: subject, of: apps)
        }
        #expect(try await rows() == 21)
        subject.setClock(10 + 3600)
        await AuditOrigin.$current.withValue(AuditOrigin(.apiKey("limited"))) {
            await Self.change(.disable, id, in: subject, of: apps)
        }
        #expect(try await rows() == 22)
        #expect(try await subject.store.account(id)?.disabling == nil)
    }

    @Test func `permitted changes of a limited key use none of the rows up`() async throws {
        let pace = RefusedChangePace()
        for _ in 0..<100 {
            let isNoted = try await pace.limiting(.only(["com.example.app"]), at: 1000) {
                AuditOrigin.current.notesRefusals
            }
            #expect(isNoted)
        }
    }
}

@Suite struct EventPollingTests {
    let subject: Subject

    init() throws { subject = try Subject() }

    private func waitForReader() async { while subject.feed.waiterCount == 0 { await Task.yield() } }

    @Test func `answers at once with what is there`() async throws {
        try await subject.signIn()
        let page = try await subject.useCases.events(after: 0, limit: 10, wait: .seconds(30), allowed: .all)
        #expect(page.events.map(\.kind) == [.accountCreated, .credentialAuthorized])
        #expect(page.cursor == 2)
    }

    @Test func `answers at once with nothing when it shall not wait`() async throws {
        let page = try await subject.useCases.events(after: 0, limit: 10, wait: .zero, allowed: .all)
        #expect(page == EventPage(events: [], cursor: 0, hasMore: false))
    }

    @Test func `is woken by a commit`() async throws {
        let reading = Task {
            try await subject.useCases.events(after: 0, limit: 10, wait: .seconds(30), allowed: .all)
        }
        await waitForReader()
        try await subject.signIn()
        #expect(try await reading.value.events.count == 2)
    }

    @Test func `waits on when what came is not the reader's`() async throws {
        let reading = Task {
            try await subject.useCases.events(
                after: 0, limit: 10, wait: .seconds(30), allowed: .only(["org.example.app"]))
        }
        await waitForReader()
        try await subject.signIn()
        try await subject.signIn(0, ["aud": .string("org.example.app")])
        let page = try await reading.value
        #expect(page.events.map(\.kind) == [.accountCreated, .credentialAuthorized])
        #expect(page.events.map(\.team) == ["OTHERTEAM1", "OTHERTEAM1"])
        #expect(page.cursor == 4)
    }

    @Test func `ends with an empty page when the time is over`() async throws {
        try await subject.signIn()
        let page = try await subject.useCases.events(
            after: 2, limit: 10, wait: .milliseconds(1), allowed: .all)
        #expect(page == EventPage(events: [], cursor: 2, hasMore: false))
    }

    @Test func `begins at the end of the feed when asked to`() async throws {
        try await subject.signIn()
        let page = try await subject.useCases.latestEvents(limit: 10, wait: .zero, allowed: .all)
        #expect(page == EventPage(events: [], cursor: 2, hasMore: false))
        let reading = Task {
            try await subject.useCases.latestEvents(limit: 10, wait: .seconds(30), allowed: .all)
        }
        await waitForReader()
        try await subject.signIn(0, ["sub": .string("001999.another.0123")])
        let next = try await reading.value
        #expect(next.events.map(\.sequence) == [3, 4])
        #expect(next.cursor == 4)
    }

    @Test(arguments: [Duration.zero, .seconds(30)], [3, Int64.max])
    func `refuses a cursor that is ahead of the feed, and does not wait`(
        wait: Duration, cursor: Int64
    ) async throws {
        try await subject.signIn()
        await #expect(throws: EventCursorAhead()) {
            try await subject.useCases.events(after: cursor, limit: 10, wait: wait, allowed: .all)
        }
        // The end itself is no such cursor, also for a reader who may see nothing.
        let page = try await subject.useCases.events(
            after: 2, limit: 10, wait: .zero, allowed: .only(["org.example.app"]))
        #expect(page.cursor == 2)
    }

    @Test func `ends with its task`() async throws {
        let reading = Task {
            try await subject.useCases.events(after: 0, limit: 10, wait: .seconds(30), allowed: .all)
        }
        await waitForReader()
        reading.cancel()
        #expect(try await reading.value.events.isEmpty)
    }

    @Test func `ends at shutdown`() async throws {
        let reading = Task {
            try await subject.useCases.events(after: 0, limit: 10, wait: .seconds(30), allowed: .all)
        }
        await waitForReader()
        subject.feed.close()
        #expect(try await reading.value.events.isEmpty)
    }

    @Test func `brings a reader on past any number of events that are not its own`() async throws {
        let reader = EventReader(
            store: BareStore(isEndless: true), feed: subject.feed, limit: 10, scope: .all)
        let page = try await reader.page(after: 5)
        #expect(page == EventPage(events: [], cursor: 25, hasMore: true))
    }

    @Test func `is woken by what another replica has committed`() async throws {
        let reading = Task {
            try await subject.useCases.events(after: 0, limit: 10, wait: .seconds(30), allowed: .all)
        }
        await waitForReader()
        let token = try Subject.token()
        // Past the group commit of this process.
        let other = GroupCommit<AccountCommand>(store: subject.store, feed: EventFeed())
        let useCases = SignInUseCases(
            deployment: try Deployment(apps: [Subject.app]), policy: VerificationPolicy(clientIDs: []),
            keys: subject.keys, store: subject.store, commits: other, feed: EventFeed(),
            tokenContext: AppleTokenContext(tokens: subject.store), nonceKey: .sample(),
            now: subject.useCases.now)
        _ = try await useCases.commitSignIn(
            SignInRequest(token: IdentityTokenRequest(identityToken: token)), allowed: .all)
        subject.feed.advance(to: 2)
        #expect(try await reading.value.events.count == 2)
    }

    @Test func `reads once, not on and on, when the database is behind what was announced`() async throws {
        let store = BareStore()
        let feed = EventFeed()
        feed.advance(to: 100)
        let reader = EventReader(store: store, feed: feed, limit: 10, scope: .all)
        let reading = Task { try await reader.page(after: 5, waiting: .seconds(30)) }
        while feed.waiterCount == 0 { await Task.yield() }
        #expect(store.readCount == 1)
        feed.close()
        #expect(try await reading.value == EventPage(events: [], cursor: 5, hasMore: false))
    }

    @Test(arguments: [Int.min, 0, 1]) func `gives at least one event`(limit: Int) async throws {
        try await subject.signIn()
        let page = try await subject.useCases.events(after: 0, limit: limit, wait: .zero, allowed: .all)
        #expect(page.events.count == 1)
        #expect(page.hasMore)
    }

    @Test func `skips and repeats nothing while others write`() async throws {
        let writing = Task {
            for number in 0..<60 as Range<Int64> {
                try await subject.signIn(0, ["sub": .string("user-\(number)")])
            }
        }
        var sequences: [Int64] = []
        var cursor: Int64 = 0
        while sequences.count < 120 {
            let page = try await subject.useCases.events(
                after: cursor, limit: 7, wait: .seconds(30), allowed: .all)
            sequences += page.events.map(\.sequence)
            cursor = page.cursor
        }
        try await writing.value
        #expect(sequences == Array(1...120))
    }
}
