import StrictJSON

/// One of several concurrent clients of services that are killed. It links users with Google, unlinks some of
/// them, and rotates the refresh token of a phone. After a request without a response it accepts both
/// outcomes.
actor OAuthLoad {
    private let system: LinkedSystem
    private let replicas: Replicas
    private let ledger: Shared<OAuthLedger>
    private let lane: Int
    private let phone: String
    private var phoneToken: String?
    private var isRotationUncertain = false

    init(_ system: LinkedSystem, _ replicas: Replicas, _ ledger: Shared<OAuthLedger>, lane: Int) {
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
        if let phoneToken { ledger.change { $0.phoneTokens.append((phone, phoneToken)) } }
    }

    private func link(_ number: Int) async {
        guard let user = try? system.makeUser(), let token = try? await system.identityToken(of: user),
            let code = await response({ try await $0.flip(.token(token)) })
        else { return }
        ledger.change { $0.acknowledged += 1 }
        var link = OAuthLedger.Link(code: code)
        // Some are redeemed only at the end.
        if number % 4 > 0 { await redeem(&link) }
        if number % 4 == 1, link.state == .linked { await unlink(&link) }
        ledger.change { [link] in $0.links.append(link) }
    }

    private func redeem(_ link: inout OAuthLedger.Link) async {
        for attempt in 0..<3 {
            let code = link.code
            guard let found = await response({ try await $0.redeem(code) }) else {
                link.state = .redemptionUncertain
                continue
            }
            if found.status == 200 {
                (link.accessToken, link.refreshToken) = (
                    found["access_token"]?.string, found["refresh_token"]?.string
                )
                link.state = .linked
                ledger.change { $0.acknowledged += 1 }
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
        guard found["active"] == true, let account = found["sub"]?.string else {
            return ledger.contradict("a token that was just given is not good: \(found.text)")
        }
        guard let grants = await response({ try await $0.grants(of: account) }), let grant = grants.first
        else { return }
        let ended = await response { try await $0.unlink(grant, of: account) }
        link.state = ended == nil ? .endUncertain : .unlinked
        guard let ended else { return }
        if ended.status == 204 {
            ledger.change { $0.acknowledged += 1 }
        } else {
            ledger.contradict("unlinking: \(ended.status) \(ended.text)")
        }
    }

    /// Rotates the token of the phone. After a lost response it posts the same token again, possibly to
    /// another replica.
    private func rotate() async {
        guard let token = phoneToken else { return await signInOnPhone() }
        let phone = phone
        guard let found = await response({ try await $0.refresh(token, phone: phone) }) else {
            isRotationUncertain = true
            return
        }
        guard found.status == 200, let next = found["refresh_token"]?.string else {
            ledger.contradict("a rotation: \(found.status) \(found.text)")
            phoneToken = nil
            return
        }
        if isRotationUncertain { ledger.change { $0.repeatedRotations += 1 } }
        (phoneToken, isRotationUncertain) = (next, false)
        ledger.change { $0.acknowledged += 1 }
    }

    private func signInOnPhone() async {
        let phone = phone
        let replicas = replicas.all
        guard !replicas.isEmpty, let user = try? system.makeUser() else { return }
        let visitor = UserAtBrowser(user, system, at: replicas)
        guard let code = try? await visitor.code(phone: phone),
            let found = await response({ try await $0.redeem(code, phone: phone) })
        else { return }
        phoneToken = found["refresh_token"]?.string
        if phoneToken == nil { ledger.contradict("a phone's code: \(found.status) \(found.text)") }
    }

    /// Sends a request. Returns `nil` when no replica is up, or when the replica ended before its response.
    private func response<Value: Sendable>(
        _ call: @Sendable (ServiceProcess) async throws -> Value
    ) async -> Value? {
        guard let replica = replicas.all.first, let value = try? await call(replica) else {
            // A replica is starting.
            try? await Task.sleep(for: .milliseconds(10))
            return nil
        }
        return value
    }
}

/// The acknowledged changes of services with OAuth clients.
struct OAuthLedger: Ledger {
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

    var links: [Link] = []
    /// The current refresh token of each lane's phone.
    var phoneTokens: [(phone: String, token: String)] = []
    var acknowledged = 0
    /// Number of rotations that succeeded after a lost response.
    var repeatedRotations = 0
    var contradictions: [String] = []
    var isClosed = false

    /// Number of links in this state.
    func count(_ linkState: Link.State) -> Int { links.count { $0.state == linkState } }
}
