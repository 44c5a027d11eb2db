import Encodings
import Foundation
import HTTPAPI
import StrictJSON
import Synchronization
import TestSupport
import Testing
import TokenMint

/// Several replicas of the service with one database, each a separate process that can be killed and started
/// again.
final class Fleet: Sendable {
    static let secret = "siwa_fleet_test"

    private let services: Mutex<[ServiceProcess?]>
    private let directory: TemporaryDirectory
    private let variables: [String: String]

    private init(_ count: Int, _ directory: TemporaryDirectory, _ variables: [String: String]) {
        services = Mutex(Array(repeating: nil, count: count))
        (self.directory, self.variables) = (directory, variables)
    }

    /// Starts the replicas on an empty database, and kills the remaining replicas at the end.
    static func with<Result>(
        _ count: Int = 3, database url: String, _ body: (Fleet) async throws -> Result
    ) async throws -> Result {
        try await TemporaryDirectory.with { directory in
            let keys = "\(directory.path)/keys.json"
            try Data(TokenMint.shared.keySet).write(to: URL(fileURLWithPath: keys))
            let fleet = Fleet(
                count, directory,
                [
                    "APPLE_TEAM_ID": "A1B2C3D4E5", "APPLE_CLIENT_IDS": TokenMint.clientID,
                    "APPLE_KEYS_FILE": keys, "DATABASE_URL": url,
                    "SIWA_API_KEY_HASHES": "test=\(Hexadecimal.encode(APIKeySecret.hash(secret)))",
                ])
            do {
                // All at once, as in a deployment: each tries to create the tables.
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for number in 0..<count { group.addTask { try await fleet.start(number) } }
                    try await group.waitForAll()
                }
                let result = try await body(fleet)
                for number in 0..<count { await fleet.kill(number) }
                return result
            } catch {
                for number in 0..<count { await fleet.kill(number) }
                throw error
            }
        }
    }

    var count: Int { services.withLock(\.count) }

    /// A backend for a replica; `nil` while the replica is down.
    func backend(_ number: Int) -> Backend? {
        services.withLock { $0[number] }.map { Backend(port: $0.port, secret: Self.secret) }
    }

    /// Starts a stopped replica, and again when it ends because the database is down, as an orchestrator
    /// does.
    func start(_ number: Int) async throws {
        for attempt in 1... {
            do {
                let service = try await ServiceProcess.serve(directory, variables)
                services.withLock { $0[number] = service }
                return
            } catch let error as ServiceProcess.EndedEarly {
                guard attempt < 10 else { throw error }
            }
        }
    }

    func kill(_ number: Int) async {
        let service = services.withLock { services in
            defer { services[number] = nil }
            return services[number]
        }
        await service?.kill()
    }

    /// Stops a replica gracefully, and returns its status.
    func stop(_ number: Int) async -> Int32? {
        let service = services.withLock { services in
            defer { services[number] = nil }
            return services[number]
        }
        return await service?.stop()
    }
}

/// Reads the feed of account events from any running replica.
actor FleetFeedReader {
    struct Event: Sendable, Hashable {
        let id: String
        let type: String
        let subject: String?
        let accountID: String?
    }

    private let fleet: Fleet
    private var replica: Int
    private(set) var events: [Event] = []
    private(set) var cursor: Int64 = 0
    /// True if a cursor did not advance by the number of events.
    private(set) var hasGap = false

    init(_ fleet: Fleet, startingAt replica: Int) {
        (self.fleet, self.replica) = (fleet, replica)
    }

    /// Runs until the ledger is closed.
    func run(_ ledger: FleetLedger) async {
        while !ledger.isClosed, !Task.isCancelled { _ = await readPage(waiting: 1) }
    }

    /// Reads the remaining events to the end of the feed.
    func readToEnd() async throws {
        while let count = await readPage(waiting: 0), count > 0 {}
    }

    /// Reads a page. Returns `nil` when no replica responded.
    private func readPage(waiting seconds: Int) async -> Int? {
        let target = "/v1/events?after=\(cursor)&limit=50&wait=\(seconds)"
        guard let response = try? await fleet.backend(replica)?.get(target), response.status == 200,
            let page = response["events"]?.array, let next = response["cursor"]?.string.flatMap({ Int64($0) })
        else {
            replica = (replica + 1) % fleet.count
            try? await Task.sleep(for: .milliseconds(20))
            return nil
        }
        for event in page {
            events.append(
                Event(
                    id: event["id"]?.string ?? "", type: event["type"]?.string ?? "",
                    subject: event["sub"]?.string, accountID: event["account_id"]?.string))
        }
        if next != cursor + Int64(page.count) { hasGap = true }
        cursor = next
        return page.count
    }
}

/// The acknowledged changes of a fleet's replicas, and their wrong responses.
final class FleetLedger: Sendable {
    struct User: Sendable {
        let subject: String
        let accountID: String
        var isRevoked = false
        var isErased = false
        /// A request without a response, which may have been executed.
        var isUncertain = false
    }

    /// A used nonce, with its sign-in.
    struct UsedNonce: Sendable {
        let nonce: String
        let token: String
    }

    struct Counts: Sendable {
        var newUsers = 0
        var returns = 0
        var revocations = 0
        var erasures = 0
        var queries = 0
        /// Number of nonces that were used twice at the same time, with one use refused.
        var refusedNonces = 0

        var acknowledged: Int { newUsers + returns + revocations + erasures }
    }

    private struct State {
        var users: [String: User] = [:]
        var nonces: [UsedNonce] = []
        var counts = Counts()
        var contradictions: [String] = []
        var isClosed = false
    }

    private let state = Mutex(State())

    var users: [User] { state.withLock { Array($0.users.values) } }
    var nonces: [UsedNonce] { state.withLock(\.nonces) }
    var counts: Counts { state.withLock(\.counts) }
    /// The errors; empty when there are none.
    var contradictions: [String] { state.withLock(\.contradictions) }

    /// True if no new work may begin.
    var isClosed: Bool { state.withLock(\.isClosed) }

    func close() {
        state.withLock { $0.isClosed = true }
    }

    func note(_ user: User) {
        state.withLock { $0.users[user.subject] = user }
    }

    func note(_ nonce: UsedNonce) {
        state.withLock { $0.nonces.append(nonce) }
    }

    func count(_ change: @Sendable (inout Counts) -> Void) {
        state.withLock { change(&$0.counts) }
    }

    func contradict(_ text: String) {
        state.withLock { $0.contradictions.append(text) }
    }
}

extension FleetLedger {
    /// Checks that every replica has all acknowledged changes.
    func check(in fleet: Fleet) async throws {
        for (number, user) in users.enumerated() {
            let backend = try #require(fleet.backend(number % fleet.count))
            let account = try await backend.account(user.subject)
            let state = try await backend.credential(user.subject)["state"]?.string
            if user.isErased {
                #expect(account.code == "account_not_found")
                #expect(state == "revoked")
            } else if !user.isUncertain {
                #expect(account["id"]?.string == user.accountID)
                #expect(state == (user.isRevoked ? "revoked" : "authorized"))
            }
        }
        for (number, used) in nonces.enumerated() {
            let backend = try #require(fleet.backend(number % fleet.count))
            let again = try await backend.signIn(used.token, [("nonce", .string(used.nonce))])
            #expect(again.code == "nonce_used" || again.code == "credential_revoked")
        }
    }

    /// Checks that all readers of the feed have seen every event once and in the same order, and that each
    /// account was created once.
    func checkFeed(_ readers: [FleetFeedReader]) async throws {
        for reader in readers {
            try await reader.readToEnd()
            #expect(await !reader.hasGap)
        }
        let events = await readers[0].events
        for reader in readers.dropFirst() {
            let theirs = await reader.events
            #expect(theirs.map(\.id) == events.map(\.id))
        }
        #expect(Set(events.map(\.id)).count == events.count)
        let created = Dictionary(grouping: events.filter { $0.type == "account_created" }, by: \.accountID)
        let revoked = Dictionary(
            grouping: events.filter { $0.type == "credential_revoked" }, by: \.accountID)
        for user in users where !user.isUncertain {
            #expect(created[user.accountID]?.count == 1)
            #expect(revoked[user.accountID]?.count ?? 0 == (user.isRevoked || user.isErased ? 1 : 0))
        }
        let subjects = events.compactMap { $0.type == "account_created" ? $0.subject : nil }
        #expect(Set(subjects).count == subjects.count)
    }
}
