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
    private var people: [FleetLedger.Person] = []

    init(_ fleet: Fleet, _ ledger: FleetLedger, lane: Int) {
        (self.fleet, self.ledger, self.lane) = (fleet, ledger, lane)
    }

    /// Runs until the ledger is closed, and finishes its current work.
    func run() async {
        while !ledger.isClosed, !Task.isCancelled {
            number += 1
            switch number % 8 {
            case 0, 3: await signInNewPerson()
            case 1: await useNonceTwice()
            case 2, 5: await signInAgain()
            case 4: await revoke()
            case 6: await query()
            default: number % 16 == 7 ? await erase() : await query()
            }
        }
    }

    /// Signs a new user in, at two replicas at the same time.
    private func signInNewPerson() async {
        let subject = "lane\(lane).person\(number)"
        guard let token = try? Self.token(subject) else { return }
        let answers = await atTwoReplicas { try await $0.signIn(token) }
        let accepted = answers.compactMap { $0 }.filter { $0.status == 200 || $0.status == 201 }
        let ids = Set(accepted.compactMap { $0["account"]?["id"]?.string })
        if ids.count > 1 { ledger.contradict("\(subject) has two accounts") }
        if accepted.count(where: { $0.status == 201 }) > 1 { ledger.contradict("\(subject) is new twice") }
        guard let id = ids.first else { return }
        keep(FleetLedger.Person(subject: subject, accountID: id))
        ledger.count { $0.newPeople += 1 }
    }

    private func signInAgain() async {
        guard let person = people.last(where: { !$0.isRevoked && !$0.isErased && !$0.isUncertain }),
            let token = try? Self.token(person.subject),
            let answer = await atReplica(number, { try await $0.signIn(token) })
        else { return }
        switch answer.status {
        case 200:
            if answer["account"]?["id"]?.string != person.accountID {
                ledger.contradict("\(person.subject) came back as another")
            }
            ledger.count { $0.returns += 1 }
        case 503: break
        default: ledger.contradict("\(person.subject) came back: \(answer.status) \(answer.code ?? "")")
        }
    }

    /// Uses a nonce of one replica at two other replicas at the same time.
    private func useNonceTwice() async {
        let subject = "lane\(lane).nonce\(number)"
        guard let minted = await atReplica(number, { try await $0.post("/v1/nonces") }),
            let nonce = minted["nonce"]?.string, let hash = minted["nonce_sha256"]?.string,
            let token = try? Self.token(subject, nonce: hash)
        else { return }
        let answers = await atTwoReplicas { try await $0.signIn(token, [("nonce", .string(nonce))]) }
        let definite = answers.compactMap { $0 }.filter { $0.status != 503 }
        let accepted = definite.filter { $0.status < 300 }
        if accepted.count > 1 { ledger.contradict("a nonce of \(subject) was used twice") }
        if definite.count == 2, accepted.isEmpty { ledger.contradict("a nonce of \(subject) was lost") }
        guard let id = accepted.first?["account"]?["id"]?.string else { return }
        ledger.note(FleetLedger.UsedNonce(nonce: nonce, token: token))
        keep(FleetLedger.Person(subject: subject, accountID: id))
        let isRefused = definite.contains { $0.code == "nonce_used" }
        ledger.count {
            $0.newPeople += 1
            if isRefused { $0.refusedNonces += 1 }
        }
    }

    /// Delivers a notification of Apple to two replicas at the same time.
    private func revoke() async {
        guard let index = people.firstIndex(where: { !$0.isRevoked && !$0.isErased && !$0.isUncertain }),
            let payload = try? Self.notification(people[index].subject)
        else { return }
        let answers = await atTwoReplicas { try await $0.notify(payload) }
        if answers.contains(where: { $0?.status == 200 }) {
            people[index].isRevoked = true
            ledger.count { $0.revocations += 1 }
        } else {
            people[index].isUncertain = true
        }
        ledger.note(people[index])
    }

    private func erase() async {
        guard let index = people.firstIndex(where: { !$0.isErased && !$0.isUncertain }) else { return }
        let target = "/v1/accounts/\(people[index].accountID)"
        let answer = await atReplica(number, { try await $0.delete(target) })
        if answer?.status == 200 {
            people[index].isErased = true
            ledger.count { $0.erasures += 1 }
        } else {
            people[index].isUncertain = true
        }
        ledger.note(people[index])
    }

    /// Checks that a change that one replica has acknowledged is visible at another replica.
    private func query() async {
        guard let person = people.randomElement(), !person.isUncertain,
            let answer = await atReplica(number, { try await $0.credential(person.subject) }),
            answer.status == 200
        else { return }
        let state = answer["state"]?.string
        if state != (person.isRevoked || person.isErased ? "revoked" : "authorized") {
            ledger.contradict("\(person.subject) is \(state ?? "nothing")")
        }
        ledger.count { $0.queries += 1 }
    }

    private func keep(_ person: FleetLedger.Person) {
        people.append(person)
        ledger.note(person)
    }

    /// Sends a request to a replica. Returns `nil` when the replica is down, or stops before it responds.
    private func atReplica(
        _ number: Int, _ call: @Sendable (Backend) async throws -> Backend.Answer
    ) async -> Backend.Answer? {
        guard let backend = fleet.backend(number % fleet.count), let answer = try? await call(backend) else {
            // The replica is starting.
            try? await Task.sleep(for: .milliseconds(20))
            return nil
        }
        return answer
    }

    private func atTwoReplicas(
        _ call: @escaping @Sendable (Backend) async throws -> Backend.Answer
    ) async -> [Backend.Answer?] {
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

    private static func notification(_ subject: String) throws -> String {
        let event = JSONObject([
            ("type", .string("consent-revoked")), ("sub", .string(subject)),
            ("event_time", .integer(now * 1000)),
        ])
        var claims = TokenMint.notificationClaims(at: now, event: event)
        claims["jti"] = .string("jti-\(subject)")
        return try TokenMint.shared.sign(claims)
    }
}
