import Crypto
import CryptoExtras
import Foundation
import SiwaClient

/// The backend's own tables: its users with their sessions, and what it keeps of siwa's events. Keep yours.
///
/// They are in memory. The work of an actor between two `await` is one transaction.
actor Users: CursorStore {
    private struct User {
        var accountID: String?
        var teamID: String?
        var sub: String?
        /// The account ID before its last change.
        var formerID: String?
        /// The user's name and password; `nil` for a user who has only the Apple Account.
        var password: Password?
    }

    /// PBKDF2 with HMAC-SHA-256.
    private struct Password {
        let name: String
        let iterations: Int
        let salt: [UInt8]
        let hash: [UInt8]

        func matches(_ password: String) throws -> Bool {
            let found = try KDF.Insecure.PBKDF2.deriveKey(
                from: Array(password.utf8), salt: salt, using: .sha256, outputByteCount: 32,
                unsafeUncheckedRounds: iterations)
            // The comparison of keys takes the same time wherever they differ.
            return found == SymmetricKey(data: hash)
        }
    }

    private struct Session {
        let userID: String
        /// `nil` for a session that began with a password.
        let since: Date?
    }

    /// siwa sends an event again for seven days.
    private static let timeOfHandled: TimeInterval = 8 * 86_400

    private var users: [String: User] = [:]
    /// Sessions by the hash of the app's token.
    private var sessions: [SHA256Digest: Session] = [:]
    /// The latest `occurredAt`, by account ID.
    private var revocations: [String: Date] = [:]
    /// IDs of disabled accounts.
    private var disabled: Set<String> = []
    /// The times of the webhooks that were handled, by event ID.
    private var handled: [String: Date] = [:]
    private var cursor: String?

    /// - Parameter passwords: Users who have a password, as `user_id:name:iterations:salt:hash` with salt and hash in
    ///   hexadecimal, separated by commas.
    init(passwords: String) {
        func bytes(_ hexadecimal: Substring) -> [UInt8] {
            let digits = hexadecimal.compactMap { $0.hexDigitValue }
            return stride(from: 0, to: digits.count - 1, by: 2).map {
                UInt8(digits[$0] << 4 | digits[$0 + 1])
            }
        }
        for entry in passwords.split(separator: ",") {
            let parts = entry.split(separator: ":")
            guard parts.count == 5, let iterations = Int(parts[2]) else { continue }
            users[String(parts[0])] = User(
                password: Password(
                    name: String(parts[1]), iterations: iterations, salt: bytes(parts[3]),
                    hash: bytes(parts[4])))
        }
    }

    /// The user of a session, and siwa's ID of the user's account.
    func user(of session: String?, evenDisabled: Bool = false) throws -> (id: String, accountID: String?) {
        guard let id = sessions[Self.hash(session)]?.userID else {
            throw SiwaError("session_ended", status: 401)  // the app gets it in the form of siwa's refusals
        }
        let accountID = users[id]?.accountID
        // Until the account is enabled, when the session is good again.
        if !evenDisabled, let accountID, disabled.contains(accountID) {
            throw SiwaError("account_disabled", status: 403)
        }
        return (id, accountID)
    }

    /// Empty for a user who has only a password.
    func accountID(of session: String?) throws -> String { try user(of: session).accountID ?? "" }

    func shown(of session: String?) throws -> [String: String] {
        let user = try user(of: session)
        return ["user_id": user.id, "account_id": user.accountID].compactMapValues { $0 }
    }

    /// The account, and the time of the sign-in with Apple that began the session.
    func appleAccount(of session: String?) throws -> (id: String, since: Date?) {
        // About a disabled account siwa decides, which has the URL with which Google ends linking.
        guard let id = try user(of: session, evenDisabled: true).accountID else {
            throw SiwaError("apple_account_missing", status: 409)  // the user has only a password
        }
        return (id, sessions[Self.hash(session)]?.since)
    }

    /// Makes a session. With the ID of a user, attaches the Apple Account to this user.
    func signIn(_ sessionUser: String?, _ account: Account, since: Date?) throws -> [String: String] {
        // The event of a revocation can arrive before the response of the sign-in that it revokes.
        guard let since, since > revocations[account.id] ?? .distantPast else {
            throw SiwaError("credential_revoked", status: 401)
        }
        // After a restore of siwa's database the same user can have another account ID, with the same sub.
        let owner =
            user { $0.accountID == account.id }
            ?? user { ($0.teamID, $0.sub) == (account.teamID, account.sub) }
        let userID = sessionUser ?? owner ?? "usr_\(UUID())"
        var user = users[userID] ?? User()
        // It belongs to another user, or this user has another one.
        guard owner == userID || (owner == nil && user.accountID == nil) else {
            throw SiwaError("other_apple_account", status: 409)
        }
        if user.accountID != account.id { user.formerID = user.accountID }
        (user.accountID, user.teamID, user.sub) = (account.id, account.teamID, account.sub)
        users[userID] = user
        return makeSession(userID, since: since)
    }

    func signIn(_ name: String?, _ password: String?) async throws -> [String: String] {
        let userID = user { $0.password != nil && $0.password?.name == name } ?? ""
        let known = users[userID]?.password ?? Password(name: "", iterations: 600_000, salt: [0], hash: [])
        // A password takes long to hash, and other requests need not wait for that.
        let check = Task.detached { try known.matches(password ?? "") }
        guard try await check.value, users[userID] != nil else {
            throw SiwaError("password_wrong", status: 401)
        }
        return makeSession(userID, since: nil)
    }

    /// Ends only this session: the account, the user's consent and other devices do not change.
    func signOut(_ session: String?) -> [String: String] {
        sessions[Self.hash(session)] = nil
        return [:]
    }

    func remove(_ userID: String) {
        users[userID] = nil
        sessions = sessions.filter { $0.value.userID != userID }
    }

    /// Ends the sessions that are not later than the moment: the user may have signed in again.
    func endSessions(of accountID: String, until moment: Date, evenOfPassword: Bool = false) {
        revocations[accountID] = max(revocations[accountID] ?? moment, moment)
        guard let userID = user(where: { $0.accountID == accountID }) else { return }
        sessions = sessions.filter { _, session in
            session.userID != userID || (session.since.map { $0 > moment } ?? !evenOfPassword)
        }
    }

    /// Deletes the user of an account. A user who has a password stays, without the Apple Account.
    func forget(_ accountID: String) {
        disabled.remove(accountID)
        // A user who has signed in again since the erasure was found by sub, and is deleted here as well.
        for (id, user) in users where [user.accountID, user.formerID].contains(accountID) {
            users[id] = user.password.map { User(password: $0) }
            sessions = sessions.filter {
                $0.value.userID != id || (user.password != nil && $0.value.since == nil)
            }
        }
    }

    func set(_ accountID: String, isDisabled: Bool) {
        if isDisabled { disabled.insert(accountID) } else { disabled.remove(accountID) }
    }

    func move(_ accountID: String, to teamID: String, _ sub: String?) {
        guard let id = user(where: { $0.accountID == accountID }) else { return }
        users[id]?.teamID = teamID
        users[id]?.sub = sub
    }

    /// Apple's ID of the account's user, or `nil` for an unknown account.
    func sub(of accountID: String) -> String? {
        user { $0.accountID == accountID }.flatMap { users[$0]?.sub }
    }

    /// By sub: the ID of the account, and the latest `since` of the user's sessions.
    func withAppleAccounts() -> [String: (accountID: String, since: Date?)] {
        let sinces = Dictionary(
            sessions.values.map { ($0.userID, $0.since ?? .distantPast) }, uniquingKeysWith: max)
        return users.reduce(into: [:]) { result, entry in
            guard let sub = entry.value.sub, let accountID = entry.value.accountID else { return }
            result[sub] = (accountID, sinces[entry.key])
        }
    }

    /// Handles the event of a webhook. A late copy is not handled again, because it could undo later events.
    func once(_ event: Event, _ handle: @Sendable (Event) async throws -> Void) async throws {
        guard handled[event.id] == nil else { return }
        try await handle(event)
        handled[event.id] = Date()
        handled = handled.filter { $0.value > Date() - Self.timeOfHandled }
    }

    func load() -> String? { cursor }

    func save(_ cursor: String) { self.cursor = cursor }

    private func makeSession(_ userID: String, since: Date?) -> [String: String] {
        let token = SymmetricKey(size: .bits256).withUnsafeBytes { Data($0).base64EncodedString() }
            .replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
        sessions[Self.hash(token)] = Session(userID: userID, since: since)
        return ["session": token, "user_id": userID]
    }

    private func user(where condition: (User) -> Bool) -> String? { users.first { condition($0.value) }?.key }

    private static func hash(_ token: String?) -> SHA256Digest { SHA256.hash(data: Data((token ?? "").utf8)) }
}
