import Crypto
import Foundation
import Hummingbird

/// The body that the app posts. The members of a sign-in go to siwa unchanged.
struct AppRequest: Codable, Sendable {
    struct AppleUser: Codable {
        struct Name: Codable {
            var firstName: String?
            var lastName: String?
        }
        var name: Name?
        var email: String?
    }
    var identity_token: String?
    var authorization_code: String?
    var nonce: String?
    var user: AppleUser?
    var attestation: AppProof?
    var app_version: String?
    var client_id: String?
    var name: String?
    var password: String?
}

/// A proof of App Attest, as the app made it. siwa decides about it.
struct AppProof: Codable, Sendable {
    var key_id: String?
    var assertion: String?
    var client_data: String?
}

struct NewSession: ResponseEncodable {
    let session: String
    let user_id: String
}

struct ShownUser: ResponseEncodable {
    let user_id: String
    let account_id: String?
}

struct Done: ResponseEncodable {}

struct Nonce: ResponseCodable {
    let nonce: String
    let nonce_sha256: String
    let expires_at: String
}

/// The part of siwa's response to an erasure that the app needs.
struct Erasure: ResponseCodable {
    var user_must_revoke: Bool
    var instructions: String?
}

private struct SignInOutcome: Decodable {
    struct Account: Decodable {
        let id: String
        let team_id: String
        let sub: String
    }
    struct Credential: Decodable { let since: String }
    let account: Account
    let credential: Credential
}

/// The tables, in memory; put them into your database. The work of an actor between two `await` is one
/// transaction.
actor Backend {
    struct User {
        var accountID: String?
        var teamID: String?
        var sub: String?
        /// The account ID before its last change.
        var formerID: String?
    }
    struct Session {
        let userID: String
        /// `nil` for a session that began with a password.
        let since: String?
        let createdAt: Date
    }

    let siwa: Siwa
    let clientID: String
    var users: [String: User] = [:]
    /// Sessions by the hash of the app's token.
    var sessions: [SHA256Digest: Session] = [:]
    /// The latest `occurred_at`, by account ID.
    var revocations: [String: String] = [:]
    /// IDs of disabled accounts.
    var disabled: Set<String> = []
    /// The times of the webhooks that were handled, by event ID.
    var handled: [String: Date] = [:]
    /// The last time at which old IDs were removed.
    var cleaning = Date()
    var cursor = ""
    var feedHasBegun = false
    private var passwords: Passwords

    init(siwa: Siwa, clientID: String, passwords: Passwords) {
        (self.siwa, self.clientID, self.passwords) = (siwa, clientID, passwords)
    }

    nonisolated func makeNonce() async throws -> Nonce {
        try await siwa.send(.POST, "/v1/nonces")
    }

    /// With a session, attaches the Apple Account to the user of the session.
    func signIn(_ request: AppRequest, session: String?) async throws -> NewSession {
        // Before it, the revocation of this sign-in could be missed.
        guard feedHasBegun else { throw Refused(.serviceUnavailable, "try_again") }
        let sessionUser = try session.map { try user(of: $0) }
        // Only a nonce of siwa's is good for one sign-in. The digest that a stolen token contains would pass as
        // a nonce of your own.
        guard let nonce = request.nonce, nonce.hasPrefix("siwa-nonce-") else {
            throw Refused(.badRequest, "nonce_missing")
        }
        var request = request
        (request.client_id, request.name, request.password) = (clientID, nil, nil)
        let outcome: SignInOutcome = try await siwa.send(.POST, "/v1/sign-ins", request)
        let (account, since) = (outcome.account, outcome.credential.since)
        // The event of a revocation can arrive before the response of the sign-in that it revokes.
        guard since > revocations[account.id] ?? "" else {
            throw Refused(.unauthorized, "credential_revoked")
        }
        // After a restore of siwa's database the same user can have another account ID, with the same sub.
        let owner =
            user { $0.accountID == account.id }
            ?? user { ($0.teamID, $0.sub) == (account.team_id, account.sub) }
        let userID = sessionUser ?? owner ?? "usr_\(UUID())"
        let known = users[userID] ?? User()
        // It belongs to another user, or this user has another one.
        guard owner == userID || (owner == nil && known.accountID == nil) else {
            throw Refused(.conflict, "other_apple_account")
        }
        let formerID = known.accountID == account.id ? known.formerID : known.accountID
        users[userID] = User(
            accountID: account.id, teamID: account.team_id, sub: account.sub, formerID: formerID)
        return makeSession(userID, since: since)
    }

    func signInWithPassword(_ request: AppRequest) async throws -> NewSession {
        // A password takes long to hash, and other requests need not wait for that.
        let check = Task.detached { [passwords] in
            try passwords.check(request.name ?? "", request.password ?? "")
        }
        guard let userID = try await check.value else { throw Refused(.unauthorized, "password_wrong") }
        users[userID] = users[userID] ?? User()
        return makeSession(userID, since: nil)
    }

    func showUser(session: String?) throws -> ShownUser {
        let userID = try user(of: session ?? "")
        return ShownUser(user_id: userID, account_id: users[userID]?.accountID)
    }

    /// Ends only this session: the account, the user's consent and other devices do not change.
    func signOut(session: String?) -> Done {
        sessions[SHA256.hash(data: Data((session ?? "").utf8))] = nil
        return Done()
    }

    func deleteUser(session: String?) async throws -> Erasure {
        let userID = try user(of: session ?? "")
        var erasure = Erasure(user_must_revoke: false)
        if let accountID = users[userID]?.accountID { erasure = try await erase(accountID) }
        passwords.remove(userID)
        forget(userID)
        return erasure
    }

    func erase(_ accountID: String) async throws -> Erasure {
        struct Report: Decodable { let erasure: Erasure }
        do {
            let report: Report = try await siwa.send(.DELETE, "/v1/accounts/\(accountID)")
            return report.erasure
        } catch let refused as Refused where refused.code == "account_not_found" {
            return Erasure(user_must_revoke: false)
        }
    }

    private func makeSession(_ userID: String, since: String?) -> NewSession {
        // base64url, which every URL, header and shell takes as it is.
        let token = SymmetricKey(size: .bits256).withUnsafeBytes { Data($0).base64EncodedString() }
            .replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
        let hash = SHA256.hash(data: Data(token.utf8))
        sessions[hash] = Session(userID: userID, since: since, createdAt: Date())
        return NewSession(session: token, user_id: userID)
    }

    func session(_ token: String) -> Session? { sessions[SHA256.hash(data: Data(token.utf8))] }

    func user(of session: String, evenDisabled: Bool = false) throws -> String {
        guard let row = self.session(session) else { throw Refused(.unauthorized, "session_ended") }
        // Until the account is enabled, when the session is good again.
        if !evenDisabled, let accountID = users[row.userID]?.accountID, disabled.contains(accountID) {
            throw Refused(.forbidden, "account_disabled")
        }
        return row.userID
    }

    func user(where condition: (User) -> Bool) -> String? {
        users.first { condition($0.value) }?.key
    }

    /// Ends the sessions of a user that began with Apple, at or before the moment.
    func endSessions(of userID: String, until moment: String) {
        sessions = sessions.filter { _, session in
            guard session.userID == userID, let since = session.since else { return true }
            return since > moment
        }
    }

    func endPasswordSessions(of userID: String) {
        sessions = sessions.filter { $0.value.userID != userID || $0.value.since != nil }
    }

    /// Deletes a user. A user with a password stays, without the Apple Account.
    func forget(_ userID: String) {
        let keepsPassword = passwords.has(userID)
        sessions = sessions.filter { $0.value.userID != userID || (keepsPassword && $0.value.since == nil) }
        users[userID] = keepsPassword ? User() : nil
    }
}
