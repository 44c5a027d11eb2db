import Foundation
import StrictJSON
import Synchronization
import TokenMint

/// One of several concurrent clients of a fleet. Each client has its own users, so that their expected state
/// is known, and sends each request to another replica.
actor FleetLoad {
    private let fleet: Fleet
    private let ledger: FleetLedger
    private let lane: Int
    private var number = 0
    private var users: [FleetLedger.User] = []

    init(_ fleet: Fleet, _ ledger: FleetLedger, lane: Int) {
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
        guard let token = try? Self.token(subject) else { return }
        let responses = await atTwoReplicas { try await $0.signIn(token) }
        let accepted = responses.compactMap { $0 }.filter { $0.status == 200 || $0.status == 201 }
        let ids = Set(accepted.compactMap { $0["account"]?["id"]?.string })
        if ids.count > 1 { ledger.contradict("\(subject) has two accounts") }
        if accepted.count(where: { $0.status == 201 }) > 1 { ledger.contradict("\(subject) is new twice") }
        guard let id = ids.first else { return }
        keep(FleetLedger.User(subject: subject, accountID: id))
        ledger.count { $0.newUsers += 1 }
    }

    private func signInAgain() async {
        guard let user = users.last(where: { !$0.isRevoked && !$0.isErased && !$0.isUncertain }),
            let token = try? Self.token(user.subject),
            let response = await atReplica(number, { try await $0.signIn(token) })
        else { return }
        switch response.status {
        case 200:
            if response["account"]?["id"]?.string != user.accountID {
                ledger.contradict("\(user.subject) came back as another")
            }
            ledger.count { $0.returns += 1 }
        case 503: break
        default: ledger.contradict("\(user.subject) came back: \(response.status) \(response.code ?? "")")
        }
    }

    /// Uses a nonce of one replica at two other replicas at the same time.
    private func useNonceTwice() async {
        let subject = "lane\(lane).nonce\(number)"
        guard let minted = await atReplica(number, { try await $0.post("/v1/nonces") }),
            let nonce = minted["nonce"]?.string, let hash = minted["nonce_sha256"]?.string,
            let token = try? Self.token(subject, nonce: hash)
        else { return }
        let responses = await atTwoReplicas { try await $0.signIn(token, [("nonce", .string(nonce))]) }
        let definite = responses.compactMap { $0 }.filter { $0.status != 503 }
        let accepted = definite.filter { $0.status < 300 }
        if accepted.count > 1 { ledger.contradict("a nonce of \(subject) was used twice") }
        if definite.count == 2, accepted.isEmpty { ledger.contradict("a nonce of \(subject) was lost") }
        guard let id = accepted.first?["account"]?["id"]?.string else { return }
        ledger.note(FleetLedger.UsedNonce(nonce: nonce, token: token))
        keep(FleetLedger.User(subject: subject, accountID: id))
        let isRefused = definite.contains { $0.code == "nonce_used" }
        ledger.count {
            $0.newUsers += 1
            if isRefused { $0.refusedNonces += 1 }
        }
    }

    /// Delivers a notification of Apple to two replicas at the same time.
    private func revoke() async {
        guard let index = users.firstIndex(where: { !$0.isRevoked && !$0.isErased && !$0.isUncertain }),
            let payload = try? Self.notification(users[index].subject)
        else { return }
        let responses = await atTwoReplicas { try await $0.notify(payload) }
        if responses.contains(where: { $0?.status == 200 }) {
            users[index].isRevoked = true
            ledger.count { $0.revocations += 1 }
        } else {
            users[index].isUncertain = true
        }
        ledger.note(users[index])
    }

    private func erase() async {
        guard let index = users.firstIndex(where: { !$0.isErased && !$0.isUncertain }) else { return }
        let target = "/v1/accounts/\(users[index].accountID)"
        let response = await atReplica(number, { try await $0.delete(target) })
        if response?.status == 200 {
            users[index].isErased = true
            ledger.count { $0.erasures += 1 }
        } else {
            users[index].isUncertain = true
        }
        ledger.note(users[index])
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
        ledger.count { $0.queries += 1 }
    }

    private func keep(_ user: FleetLedger.User) {
        users.append(user)
        ledger.note(user)
    }

    /// Sends a request to a replica. Returns `nil` when the replica is down, or stops before it responds.
    private func atReplica(
        _ number: Int, _ call: @Sendable (Backend) async throws -> Backend.Response
    ) async -> Backend.Response? {
        guard let backend = fleet.backend(number % fleet.count), let response = try? await call(backend)
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

    private static var now: Int64 { Int64(Date().timeIntervalSince1970) }

    static func token(_ subject: String, nonce: String? = nil) throws -> String {
        var claims = TokenMint.identityClaims(at: now - 10)
        claims["sub"] = .string(subject)
        claims["email"] = .string("\(subject)@relay.example")
        if let nonce { claims["nonce"] = .string(nonce) }
        return try TokenMint.shared.sign(claims)
    }

    static func notification(_ subject: String) throws -> String {
        let event = JSONObject([
            ("type", .string("consent-revoked")), ("sub", .string(subject)),
            ("event_time", .integer(now * 1000)),
        ])
        var claims = TokenMint.notificationClaims(at: now, event: event)
        claims["jti"] = .string("jti-\(subject)")
        return try TokenMint.shared.sign(claims)
    }
}
