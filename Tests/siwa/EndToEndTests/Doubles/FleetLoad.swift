import StrictJSON
import Testing

/// Reads the feed of account events from any running replica.
actor FleetFeedReader {
    struct Event: Sendable, Hashable {
        let id: String
        let type: String
        let subject: String?
        let accountID: String?
    }

    private let fleet: Replicas
    private var replica: Int
    private(set) var events: [Event] = []
    private(set) var cursor: Int64 = 0
    /// True if a cursor did not advance by the number of events.
    private(set) var hasGap = false

    init(_ fleet: Replicas, startingAt replica: Int) { (self.fleet, self.replica) = (fleet, replica) }

    /// Runs until the ledger is closed.
    func run(_ ledger: Shared<FleetLedger>) async {
        while !ledger.isClosed, !Task.isCancelled { _ = await readPage(waiting: 1) }
    }

    /// Reads the remaining events to the end of the feed.
    func readToEnd() async throws { while let count = await readPage(waiting: 0), count > 0 {} }

    /// Reads a page. Returns `nil` when no replica responded.
    private func readPage(waiting seconds: Int) async -> Int? {
        let target = "/v1/events?after=\(cursor)&limit=50&wait=\(seconds)"
        guard let response = try? await fleet[replica]?.backend.get(target), response.status == 200,
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

/// The acknowledged changes of a fleet's replicas.
struct FleetLedger: Ledger {
    struct User: Sendable {
        let subject: String
        let accountID: String
        var isRevoked = false
        var isErased = false
        /// A request without a response, which may have been executed.
        var isUncertain = false

        /// True if the user signs in and stops using the app as expected.
        var isActive: Bool { !isRevoked && !isErased && !isUncertain }
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

    /// By subject.
    var users: [String: User] = [:]
    /// Used nonces, with the tokens of their sign-ins.
    var nonces: [(nonce: String, token: String)] = []
    var counts = Counts()
    var contradictions: [String] = []
    var isClosed = false
}

extension Shared<FleetLedger> {
    /// Checks that every replica has all acknowledged changes.
    func check(in fleet: Replicas) async throws {
        for (number, user) in self.users.values.enumerated() {
            let backend = try #require(fleet[number % fleet.count]).backend
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
        for (number, used) in self.nonces.enumerated() {
            let backend = try #require(fleet[number % fleet.count]).backend
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
        let revoked = Dictionary(grouping: events.filter { $0.type == "credential_revoked" }, by: \.accountID)
        for user in self.users.values where !user.isUncertain {
            #expect(created[user.accountID]?.count == 1)
            #expect(revoked[user.accountID]?.count ?? 0 == (user.isRevoked || user.isErased ? 1 : 0))
        }
        let subjects = events.compactMap { $0.type == "account_created" ? $0.subject : nil }
        #expect(Set(subjects).count == subjects.count)
    }
}

/// One of several concurrent clients of a fleet. Each client has its own users, so that their expected state
/// is known, and sends each request to another replica.
actor FleetLoad {
    private let fleet: Replicas
    private let ledger: Shared<FleetLedger>
    private let lane: Int
    private var number = 0
    private var users: [FleetLedger.User] = []

    init(_ fleet: Replicas, _ ledger: Shared<FleetLedger>, lane: Int) {
        (self.fleet, self.ledger, self.lane) = (fleet, ledger, lane)
    }

    /// Runs until the ledger is closed, and finishes its current work.
    func run() async {
        while !ledger.isClosed, !Task.isCancelled {
            number += 1
            switch number % 8 {
            case 0, 3: await signInNewUser()
            case 1: await useNonceTwice()
            case 2, 5: await signInAgain()
            case 4: await revoke()
            case 6: await query()
            default: number % 16 == 7 ? await erase() : await query()
            }
        }
    }

    /// Signs a new user in, at two replicas at the same time.
    private func signInNewUser() async {
        let subject = "lane\(lane).user\(number)"
        guard let token = try? Minted.token(subject) else { return }
        let responses = await atTwoReplicas { try await $0.signIn(token) }
        let accepted = responses.compactMap { $0 }.filter { $0.status == 200 || $0.status == 201 }
        let ids = Set(accepted.compactMap { $0["account"]?["id"]?.string })
        if ids.count > 1 { ledger.contradict("\(subject) has two accounts") }
        if accepted.count(where: { $0.status == 201 }) > 1 { ledger.contradict("\(subject) is new twice") }
        guard let id = ids.first else { return }
        keep(FleetLedger.User(subject: subject, accountID: id))
        ledger.change { $0.counts.newUsers += 1 }
    }

    private func signInAgain() async {
        guard let user = users.last(where: \.isActive), let token = try? Minted.token(user.subject),
            let response = await atReplica(number, { try await $0.signIn(token) })
        else { return }
        switch response.status {
        case 200:
            if response["account"]?["id"]?.string != user.accountID {
                ledger.contradict("\(user.subject) came back as another")
            }
            ledger.change { $0.counts.returns += 1 }
        case 503: break
        default: ledger.contradict("\(user.subject) came back: \(response.status) \(response.code ?? "")")
        }
    }

    /// Uses a nonce of one replica at two other replicas at the same time.
    private func useNonceTwice() async {
        let subject = "lane\(lane).nonce\(number)"
        guard let minted = await atReplica(number, { try await $0.post("/v1/nonces") }),
            let nonce = minted["nonce"]?.string, let hash = minted["nonce_sha256"]?.string,
            let token = try? Minted.token(subject, nonce: hash)
        else { return }
        let responses = await atTwoReplicas { try await $0.signIn(token, [("nonce", .string(nonce))]) }
        let definite = responses.compactMap { $0 }.filter { $0.status != 503 }
        let accepted = definite.filter { $0.status < 300 }
        if accepted.count > 1 { ledger.contradict("a nonce of \(subject) was used twice") }
        if definite.count == 2, accepted.isEmpty { ledger.contradict("a nonce of \(subject) was lost") }
        guard let id = accepted.first?["account"]?["id"]?.string else { return }
        keep(FleetLedger.User(subject: subject, accountID: id))
        let isRefused = definite.contains { $0.code == "nonce_used" }
        ledger.change {
            $0.nonces.append((nonce, token))
            $0.counts.newUsers += 1
            if isRefused { $0.counts.refusedNonces += 1 }
        }
    }

    /// Delivers a notification of Apple to two replicas at the same time.
    private func revoke() async {
        guard let index = users.firstIndex(where: \.isActive),
            let payload = try? Minted.notification(users[index].subject)
        else { return }
        let responses = await atTwoReplicas { try await $0.notify(payload) }
        if responses.contains(where: { $0?.status == 200 }) {
            users[index].isRevoked = true
            ledger.change { $0.counts.revocations += 1 }
        } else {
            users[index].isUncertain = true
        }
        note(users[index])
    }

    private func erase() async {
        guard let index = users.firstIndex(where: { !$0.isErased && !$0.isUncertain }) else { return }
        let target = "/v1/accounts/\(users[index].accountID)"
        let response = await atReplica(number, { try await $0.delete(target) })
        if response?.status == 200 {
            users[index].isErased = true
            ledger.change { $0.counts.erasures += 1 }
        } else {
            users[index].isUncertain = true
        }
        note(users[index])
    }

    /// Checks that a change that one replica has acknowledged is visible at another replica.
    private func query() async {
        guard let user = users.randomElement(), !user.isUncertain,
            let response = await atReplica(number, { try await $0.credential(user.subject) }),
            response.status == 200
        else { return }
        let state = response["state"]?.string
        if state != (user.isRevoked || user.isErased ? "revoked" : "authorized") {
            ledger.contradict("\(user.subject) is \(state ?? "nothing")")
        }
        ledger.change { $0.counts.queries += 1 }
    }

    private func keep(_ user: FleetLedger.User) {
        users.append(user)
        note(user)
    }

    private func note(_ user: FleetLedger.User) { ledger.change { $0.users[user.subject] = user } }

    /// Sends a request to a replica. Returns `nil` when the replica is down, or stops before it responds.
    private func atReplica(
        _ number: Int, _ call: @Sendable (Backend) async throws -> Backend.Response
    ) async -> Backend.Response? {
        guard let backend = fleet[number % fleet.count]?.backend, let response = try? await call(backend)
        else {
            // The replica is starting.
            try? await Task.sleep(for: .milliseconds(20))
            return nil
        }
        return response
    }

    private func atTwoReplicas(
        _ call: @escaping @Sendable (Backend) async throws -> Backend.Response
    ) async -> [Backend.Response?] {
        async let one = atReplica(number, call)
        async let other = atReplica(number + 1, call)
        return await [one, other]
    }
}
