import AppleAccounts
import AppleIdentity
import StorageConformance
import StrictJSON
import Testing

@testable import Commits
@testable import SignIn

@Suite struct EventPollingTests {
    let subject: Subject

    init() throws {
        subject = try Subject()
    }

    private func waitForReader() async {
        while subject.feed.waiterCount == 0 { await Task.yield() }
    }

    @Test func `answers at once with what is there`() async throws {
        try await subject.signIn()
        let page = try await subject.useCases.events(
            after: 0, limit: 10, wait: .seconds(30), allowed: .all)
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
