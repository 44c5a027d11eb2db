import StrictJSON
import Synchronization

/// One of several concurrent clients of services that are killed. It links users with Google, unlinks some of
/// them, and rotates the refresh token of a phone. After a request without a response it accepts both
/// outcomes.
actor OAuthLoad {
    private let system: LinkedSystem
    private let replicas: ReplicaSet
    private let ledger: OAuthLedger
    private let lane: Int
    private let phone: String
    private var phoneToken: String?
    private var isRotationUncertain = false

    init(_ system: LinkedSystem, _ replicas: ReplicaSet, _ ledger: OAuthLedger, lane: Int) {
        (self.system, self.replicas, self.ledger, self.lane) = (system, replicas, ledger, lane)
        phone = LinkedClients.phones[lane % LinkedClients.phones.count]
    }

    /// Runs until the ledger is closed.
    func run() async {
        var number = 0
        while !ledger.isClosed, !Task.isCancelled {
            number += 1
            await rotate()
            await link(number)
            await rotate()
        }
        if let phoneToken { ledger.keep(phoneToken, of: phone) }
    }

    private func link(_ number: Int) async {
        guard let user = try? system.makeUser(), let token = try? system.identityToken(of: user),
            let code = await response({ try await $0.flip(.token(token)) })
        else { return }
        ledger.acknowledge()
        var link = OAuthLedger.Link(code: code)
        // Some are redeemed only at the end.
        if number % 4 > 0 { await redeem(&link) }
        if number % 4 == 1, link.state == .linked { await unlink(&link) }
        ledger.add(link)
    }

    private func redeem(_ link: inout OAuthLedger.Link) async {
        for attempt in 0..<3 {
            let code = link.code
            guard let found = await response({ try await $0.redeem(code) }) else {
                link.state = .redemptionUncertain
                continue
            }
            if found.status == 200 {
                (link.accessToken, link.refreshToken) = (found["access_token"], found["refresh_token"])
                link.state = .linked
                ledger.acknowledge()
                // It is good once.
                let again = await response { try await $0.redeem(code) }
                if let again, again.error != "invalid_grant" {
                    ledger.contradict("a code was redeemed twice: \(again.status)")
                }
            } else if found.error != "invalid_grant" || attempt == 0 {
                ledger.contradict("a code was refused: \(found.status) \(found.text)")
            }
            return
        }
    }

    private func unlink(_ link: inout OAuthLedger.Link) async {
        guard let access = link.accessToken, let found = await response({ try await $0.introspect(access) })
        else { return }
        guard found.json?["active"]?.bool == true, let account = found["sub"] else {
            return ledger.contradict("a token that was just given is not good: \(found.text)")
        }
        guard let grants = await response({ try await $0.grants(of: account) }), let grant = grants.first
        else { return }
        let ended = await response { try await $0.unlink(grant, of: account) }
        link.state = ended == nil ? .endUncertain : .unlinked
        guard let ended else { return }
        if ended.status == 204 {
            ledger.acknowledge()
        } else {
            ledger.contradict("unlinking: \(ended.status) \(ended.text)")
        }
    }

    /// Rotates the token of the phone. After a lost response it posts the same token again, possibly to
    /// another replica.
    private func rotate() async {
        guard let token = phoneToken else {
            return await signInOnPhone()
        }
        let phone = phone
        guard let found = await response({ try await $0.refresh(token, phone: phone) }) else {
            isRotationUncertain = true
            return
        }
        guard found.status == 200, let next = found["refresh_token"] else {
            ledger.contradict("a rotation: \(found.status) \(found.text)")
            phoneToken = nil
            return
        }
        if isRotationUncertain { ledger.countRepeatedRotation() }
        (phoneToken, isRotationUncertain) = (next, false)
        ledger.acknowledge()
    }

    private func signInOnPhone() async {
        let phone = phone
        let replicas = replicas.all
        guard !replicas.isEmpty, let user = try? system.makeUser() else { return }
        let visitor = UserAtBrowser(user, system, at: replicas)
        guard let code = try? await visitor.code(phone: phone),
            let found = await response({ try await $0.redeem(code, phone: phone) })
        else { return }
        phoneToken = found["refresh_token"]
        if phoneToken == nil { ledger.contradict("a phone's code: \(found.status) \(found.text)") }
    }

    /// Sends a request. Returns `nil` when no replica is up, or when the replica ended before its response.
    private func response<Value: Sendable>(
        _ call: @Sendable (OAuthReplica) async throws -> Value
    ) async -> Value? {
        guard let replica = replicas.all.first, let value = try? await call(replica) else {
            // A replica is starting.
            try? await Task.sleep(for: .milliseconds(10))
            return nil
        }
        return value
    }
}

/// The acknowledged changes of services with OAuth clients, and their wrong responses.
final class OAuthLedger: Sendable {
    /// A link with Google.
    struct Link: Sendable {
        enum State: Sendable {
            /// The response with the code has arrived, and the code is not redeemed.
            case code
            /// The redemption had no response: the code may be used up.
            case redemptionUncertain
            case linked
            /// The request that ends the link had no response.
            case endUncertain
            case unlinked
        }

        let code: String
        var accessToken: String?
        var refreshToken: String?
        var state = State.code
    }

    private struct State {
        var links: [Link] = []
        var phoneTokens: [(phone: String, token: String)] = []
        var acknowledged = 0
        var repeatedRotations = 0
        var contradictions: [String] = []
        var isClosed = false
    }

    private let state = Mutex(State())

    /// Number of links in this state.
    func count(_ linkState: Link.State) -> Int { links.count { $0.state == linkState } }
    var links: [Link] { state.withLock(\.links) }
    /// The current refresh token of each lane's phone.
    var phoneTokens: [(phone: String, token: String)] { state.withLock(\.phoneTokens) }
    var acknowledged: Int { state.withLock(\.acknowledged) }
    /// Number of rotations that succeeded after a lost response.
    var repeatedRotations: Int { state.withLock(\.repeatedRotations) }
    var contradictions: [String] { state.withLock(\.contradictions) }
    var isClosed: Bool { state.withLock(\.isClosed) }

    func close() { state.withLock { $0.isClosed = true } }

    /// Adds a link of a lane in its last state.
    func add(_ link: Link) { state.withLock { $0.links.append(link) } }

    func keep(_ token: String, of phone: String) { state.withLock { $0.phoneTokens.append((phone, token)) } }

    func acknowledge() { state.withLock { $0.acknowledged += 1 } }

    func countRepeatedRotation() { state.withLock { $0.repeatedRotations += 1 } }

    func contradict(_ text: String) { state.withLock { $0.contradictions.append(text) } }
}
