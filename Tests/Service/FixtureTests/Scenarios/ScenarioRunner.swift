import AppleAccounts
import AppleIdentity
import Commits
import Cryptography
import Encodings
import Foundation
import KeySets
import Logging
import SQLiteStorage
import SignIn
import StorageConformance
import StrictJSON
import Synchronization
import TestSupport
import Testing

@Suite struct ScenarioTests {
    @Test(arguments: try FixtureFolder("scenarios").files(of: Scenario.self))
    func `goes as its file says, in memory`(file: FixtureFile<Scenario>) async throws {
        try await play(file, in: MemoryScenarioStorage())
    }

    @Test(arguments: try FixtureFolder("scenarios").files(of: Scenario.self))
    func `goes as its file says, on SQLite`(file: FixtureFile<Scenario>) async throws {
        try await play(file, in: try SQLiteScenarioStorage())
    }

    private func play(_ file: FixtureFile<Scenario>, in storage: some ScenarioStorage) async throws {
        var runner = try ScenarioRunner(file.content, storage: storage)
        try await runner.run()
        #expect(runner.differences.isEmpty, "\(file.content.summary)")
    }
}

/// Plays a scenario and records differences from the expected results.
struct ScenarioRunner {
    /// Key with which the recipe has made the nonces of the service.
    private static func nonceKey() throws -> NonceKey {
        guard let key = NonceKey(SHA256Digest.hash("the nonce key of the fixtures").bytes) else {
            throw FixtureError("no key")
        }
        return key
    }

    private let scenario: Scenario
    private let storage: any ScenarioStorage
    private let apple = StubKeySetSource()
    private let clock: ManualClock
    private let deployment: Deployment

    private var service: ScenarioService?
    private var lastEvent: Int64 = 0
    /// The account ID of each named user.
    private var users: [String: JSONTree] = [:]
    private(set) var differences: [String] = []

    init(_ scenario: Scenario, storage: any ScenarioStorage) throws {
        guard let first = scenario.steps.first else { throw FixtureError("no steps") }
        self.scenario = scenario
        self.storage = storage
        clock = ManualClock(millisecondsSince1970: first.at.secondsSince1970 * 1000)
        deployment = try Deployment(
            apps: scenario.apps.map { entry in
                let clientIDs = entry.clientIDs.compactMap { ClientID($0) }
                guard let team = TeamID(entry.teamID), let primary = clientIDs.first else {
                    throw FixtureError("an app without team or client ID")
                }
                return App(team: team, primaryClientID: primary, otherClientIDs: Array(clientIDs.dropFirst()))
            })
    }

    mutating func run() async throws {
        for (index, step) in scenario.steps.enumerated() {
            do {
                try await play(step, label: "step \(index + 1) \(step.note ?? "")")
            } catch {
                await service?.end()
                throw error
            }
        }
        await service?.end()
    }

    private mutating func play(_ step: ScenarioStep, label: String) async throws {
        let moment = step.at.secondsSince1970 * 1000
        if let service { try await service.wait(until: moment) } else { clock.advance(to: moment) }
        if case .appleKeys(let response) = step.action {
            apple.answer(response)
            return
        }
        let service = try await runningService()
        if case .restart = step.action {
            await service.end()
            self.service = nil
            _ = try await runningService()
            return
        }
        let reply: Reply
        do {
            reply = try await carryOut(step.action, in: service)
        } catch {
            reply = try Reply(refusing: error)
        }
        var found = reply.tree
        let events = try await newEvents(of: service)
        if case .object(var members) = found {
            members["events"] = .array(events.map { JSONTree($0) })
            found = .object(members)
        }
        differences += compare(step.expect, with: found).map { "\(label): \($0)" }
    }

    private mutating func runningService() async throws -> ScenarioService {
        if let service { return service }
        let started = try await ScenarioService(
            deployment: deployment, storage: storage, apple: apple, clock: clock,
            nonceKey: try Self.nonceKey())
        service = started
        return started
    }

    private func carryOut(_ action: ScenarioStep.Action, in service: ScenarioService) async throws -> Reply {
        let useCases = service.useCases
        switch action {
        case .signIn(let body):
            let signIn = try useCases.signIn(body.signInRequest, allowed: .all)
            return Reply(try await signIn.value.outcome)
        case .verify(let body):
            return Reply(try await useCases.verify(body.tokenRequest, allowed: .all).value)
        case .flood(let flood): return try await Self.verify(flood, in: useCases)
        case .notification(let payload):
            let notification = try useCases.receiveNotification(payload: payload)
            let receipt = try await notification.value.receipt
            return Reply(status: 200, members: ["receipt": JSONTree(receipt.word)])
        case .credential(let question):
            let credential = try await useCases.credential(
                subject: question.sub, clientID: question.clientID, allowed: .all
            ).value
            guard case .object(let members) = JSONTree(credential) else { throw FixtureError("no object") }
            return Reply(status: 200, members: members)
        case .account(let question):
            let account = try await useCases.account(
                subject: question.sub, clientID: question.clientID, allowed: .all)
            return Reply(status: 200, members: ["account": JSONTree(account)])
        case .mintNonce(let nonce):
            // The recipe has made it as the service would at this moment.
            guard nonce.hasPrefix(MintedNonce.prefix) else { throw FixtureError("no nonce of the service") }
            return Reply(status: 200)
        case .appleKeys, .restart: throw FixtureError("not a request")
        }
    }

    /// Sends equal requests and returns their common response.
    private static func verify(_ flood: ScenarioStep.Flood, in useCases: SignInUseCases) async throws -> Reply
    {
        guard let dot = flood.identityToken.firstIndex(of: ".") else { throw FixtureError("no token") }
        var replies: Set<JSONTree> = []
        var last: Reply?
        for number in 0..<flood.count {
            let header = Base64URL.encode(Array(#"{"kid":"invented\#(number)","alg":"RS256"}"#.utf8))
            let token = header + flood.identityToken[dot...]
            do {
                let request = IdentityTokenRequest(identityToken: token)
                last = Reply(try await useCases.verify(request, allowed: .all).value)
            } catch {
                last = try Reply(refusing: error)
            }
            if let last { replies.insert(last.tree) }
        }
        guard replies.count == 1, let last else { throw FixtureError("\(replies.count) different answers") }
        return last
    }

    private mutating func newEvents(of service: ScenarioService) async throws -> [String] {
        let page = try await service.store.events(after: lastEvent, limit: 100, visibleTo: .all)
        lastEvent = page.cursor
        return page.events.map(\.kind.rawValue)
    }

    private mutating func compare(_ expected: [String: JSONTree], with found: JSONTree) -> [String] {
        var differences: [String] = []
        for (name, value) in expected.sorted(by: { $0.key < $1.key }) {
            switch (name, value) {
            case ("upstream_fetches", _):
                let fetches = Int64(apple.fetches)
                guard case .integer(let least) = value["at_least"],
                    case .integer(let most) = value["at_most"],
                    least <= fetches, fetches <= most
                else {
                    differences.append("Apple was asked \(fetches) times, not \(value)")
                    continue
                }
            case ("account_lacks", .object(let members)):
                for (member, value) in members where found["account"]?[member] == value {
                    differences.append("account.\(member) is \(value)")
                }
            case ("person", .text(let user)): differences += identify(user.text, found["account"]?["id"])
            default: differences += value.differences(from: found[name], at: name)
            }
        }
        return differences
    }

    /// Checks that a name always has the same account, and two names have different accounts.
    private mutating func identify(_ user: String, _ id: JSONTree?) -> [String] {
        guard let id else { return ["there is no account of \(user)"] }
        if let known = users[user] { return known == id ? [] : ["\(user) has another account"] }
        defer { users[user] = id }
        return users.values.contains(id) ? ["\(user) has another user's account"] : []
    }
}

/// The posted body of a sign-in or a verification.
struct SignInBody: Decodable, Sendable {
    enum CodingKeys: String, CodingKey {
        case nonce, user, create
        case identityToken = "identity_token"
        case clientID = "client_id"
        case authorizationCode = "authorization_code"
        case accessToken = "access_token"
    }

    /// Apple's own object.
    struct User: Decodable {
        struct Name: Decodable {
            let firstName, lastName: String?
        }

        let name: Name?
        let email: String?
    }

    let identityToken: String
    let nonce, clientID, authorizationCode, accessToken: String?
    let user: User?
    let create: Bool?

    var tokenRequest: IdentityTokenRequest {
        IdentityTokenRequest(
            identityToken: identityToken, nonce: nonce, clientID: clientID,
            authorizationCode: authorizationCode,
            accessToken: accessToken)
    }

    var signInRequest: SignInRequest {
        SignInRequest(
            token: tokenRequest,
            user: user.map {
                UserProfile(firstName: $0.name?.firstName, lastName: $0.name?.lastName, email: $0.email)
            },
            createsAccount: create ?? true)
    }
}

/// The service from start to end of one process: its own modules, with a stub of Apple and a manual clock.
struct ScenarioService: Sendable {
    /// Durations that occur nowhere else in the key set, so that these time-outs differ from the refresh
    /// loop's sleep.
    private static let (longestFetch, longestSnapshotLoad): (Int64, Int64) = (19_999, 1999)

    let useCases: SignInUseCases
    let store: any AccountStore
    let commits: GroupCommit<AccountCommand>
    private let feed: EventFeed
    private let storage: any ScenarioStorage
    private let clock: ManualClock
    private let refreshing: Task<Void, Never>

    init(
        deployment: Deployment, storage: any ScenarioStorage, apple: StubKeySetSource, clock: ManualClock,
        nonceKey: NonceKey
    ) async throws {
        let (accounts, snapshots) = try await storage.open()
        let keys = RemoteKeySet(
            source: apple, snapshots: snapshots, clock: clock,
            bounds: KeySetBounds(
                longestFetch: Self.longestFetch, longestSnapshotLoad: Self.longestSnapshotLoad),
            jitter: { 500 })
        await keys.restore()
        let feed = EventFeed()
        self.clock = clock
        self.feed = feed
        self.storage = storage
        store = accounts
        commits = GroupCommit<AccountCommand>(store: accounts, feed: feed)
        useCases = SignInUseCases(
            deployment: deployment, policy: VerificationPolicy(clientIDs: []), keys: keys, store: accounts,
            commits: commits, feed: feed, tokenContext: AppleTokenContext(tokens: accounts),
            nonceKey: nonceKey,
            now: { Moment(milliseconds: clock.millisecondsSince1970) })
        // Runs beside the steps until the service ends.
        refreshing = Task { await keys.run() }
        try await settle()
    }

    /// Moves the clock in steps, so that the refresh loop does its due work at each moment.
    func wait(until moment: Int64) async throws {
        while let next = clock.deadlines.min(), next <= moment {
            clock.advance(to: next)
            try await settle()
        }
        clock.advance(to: moment)
    }

    func end() async {
        refreshing.cancel()
        await refreshing.value
        await commits.drain()
        feed.close()
        await storage.close()
    }

    /// Returns when only the refresh loop sleeps.
    private func settle() async throws {
        for _ in 0..<10_000_000 {
            let now = clock.millisecondsSince1970
            let deadlines = clock.deadlines
            let timeOuts = [now + Self.longestFetch, now + Self.longestSnapshotLoad]
            if deadlines.count == 1, deadlines.allSatisfy({ $0 > now && !timeOuts.contains($0) }) { return }
            await Task.yield()
        }
        throw FixtureError("the refresh loop does not come to rest")
    }
}

/// Storage that outlives a restart.
protocol ScenarioStorage: Sendable {
    /// Opens the storage for one process of the service.
    func open() async throws -> (
        accounts: any AccountStore & AppleTokenStore, snapshots: any KeySetSnapshotStore
    )
    /// Closes the storage at the end of the process.
    func close() async
}

/// The reference store. It exists for the whole scenario, as a database would.
struct MemoryScenarioStorage: ScenarioStorage {
    private let accounts = ReferenceStore()
    private let snapshots = MemorySnapshotStore()

    func open() -> (accounts: any AccountStore & AppleTokenStore, snapshots: any KeySetSnapshotStore) {
        (accounts, snapshots)
    }

    func close() {}
}

private final class MemorySnapshotStore: KeySetSnapshotStore {
    private let snapshot = Mutex<KeySetSnapshot?>(nil)

    func load() -> KeySetSnapshot? { snapshot.withLock { $0 } }

    func save(_ snapshot: KeySetSnapshot) { self.snapshot.withLock { $0 = snapshot } }
}

/// A database file in a directory of its own, which is removed with this value.
final class SQLiteScenarioStorage: ScenarioStorage {
    private let directory: TemporaryDirectory
    private let database = Mutex<SQLiteDatabase?>(nil)

    init() throws { directory = try TemporaryDirectory() }

    func open() async throws -> (
        accounts: any AccountStore & AppleTokenStore, snapshots: any KeySetSnapshotStore
    ) {
        var logger = Logger(label: "scenario")
        logger.logLevel = .error
        let opened = try await SQLiteDatabase.open(path: directory.path(of: "siwa.sqlite"), logger: logger)
        database.withLock { $0 = opened }
        return (opened.accounts, opened.keySetSnapshots)
    }

    func close() async {
        let opened = database.withLock { database in
            defer { database = nil }
            return database
        }
        await opened?.close()
    }
}

/// Apple's key endpoint: sends the configured response and counts its requests.
final class StubKeySetSource: KeySetSource {
    private let state = Mutex<(answer: AppleAnswer?, fetches: Int)>((nil, 0))

    var fetches: Int { state.withLock { $0.fetches } }

    func answer(_ answer: AppleAnswer) { state.withLock { $0.answer = answer } }

    func fetch(ifNoneMatch entityTag: String?) async throws -> KeySetResponse {
        let answer = state.withLock { state in
            state.fetches += 1
            return state.answer
        }
        guard let answer else { throw KeySetFetchError(.unreachable) }
        return try answer.response()
    }
}
