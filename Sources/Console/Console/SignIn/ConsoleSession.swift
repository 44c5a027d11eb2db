import AppleAccounts
import Cryptography
import Encodings
import HTTPAPI
import HTTPEngine
import SignIn
import StrictJSON
import Synchronization

/// The session of an operator who signed in with an API key. A sealed cookie holds the session, so every
/// replica with the sealing key can read it, and the database needs no table.
struct ConsoleSession: Sendable, Equatable {
    /// Lifetime in milliseconds. Using a session does not extend its lifetime.
    static let lifetime: Int64 = 1_800_000
    static let idSize = 16
    static let formKeySize = 32

    let id: [UInt8]
    /// The name of the API key that the operator signed in with.
    let key: String
    /// The digest of the key's hash, so that another key with the same name cannot continue the session.
    let keyDigest: SHA256Digest
    let expiresAt: Moment
    /// The key for the session's form tokens. The browser cannot read it.
    let formKey: [UInt8]

    init(of key: APIKey, at now: Moment) {
        id = SecureRandom.bytes(count: Self.idSize)
        self.key = key.name
        keyDigest = Self.digest(of: key)
        expiresAt = now.advanced(byMilliseconds: Self.lifetime)
        formKey = SecureRandom.bytes(count: Self.formKeySize)
    }

    func isGood(for key: APIKey, at now: Moment) -> Bool {
        // The second condition prevents a clock that was set back from extending a session.
        now < expiresAt && expiresAt.milliseconds - now.milliseconds <= Self.lifetime
            && self.key.isByteEqual(to: key.name) && keyDigest == Self.digest(of: key)
    }

    private static func digest(of key: APIKey) -> SHA256Digest { SHA256Digest.hash(key.hash.bytes) }

    var json: [UInt8] {
        var json = JSONWriter(reservingCapacity: 320)
        json.beginObject()
        json.member("id", Base64URL.encode(id))
        json.member("key", key)
        json.member("key_digest", Base64URL.encode(keyDigest.bytes))
        json.member("expires", expiresAt.milliseconds)
        json.member("form_key", Base64URL.encode(formKey))
        json.endObject()
        return json.bytes
    }

    init?(json: [UInt8]) {
        func bytes(_ value: JSONValue?) -> [UInt8]? { value?.string.flatMap { Base64URL.decode($0) } }
        guard let value = try? JSONValue(parsing: json), let id = bytes(value["id"]),
            id.count == Self.idSize, let key = value["key"]?.string,
            let digest = bytes(value["key_digest"]).flatMap({ SHA256Digest($0) }),
            let expiresAt = value["expires"]?.integer, let formKey = bytes(value["form_key"]),
            formKey.count == Self.formKeySize
        else { return nil }
        (self.id, self.key, self.keyDigest, self.formKey) = (id, key, digest, formKey)
        self.expiresAt = Moment(milliseconds: expiresAt)
    }
}

/// Sessions that ended early because their operators signed out.
///
/// An ended session is a row in the database until the session would have expired, so that no replica accepts
/// a copied cookie, even after a restart. Nothing deletes the row earlier, because the copied cookie would
/// then be valid again.
final class EndedConsoleSessions: Sendable {
    private let tickets: any TicketStore
    /// The latest expiry among ended sessions that the database could not store, by key name. All of the
    /// key's sessions that expire no later are treated as ended, so the number of keys bounds the number of
    /// entries.
    private let unwritten = Mutex<[String: Moment]>([:])

    init(_ tickets: any TicketStore) {
        self.tickets = tickets
    }

    /// Ends a session. Ending it again changes nothing.
    ///
    /// - Throws: `StorageError`, in which case the session has ended only in this process.
    func end(_ session: ConsoleSession) async throws {
        do {
            _ = try await tickets.insertTicket(
                Ticket(
                    digest: Self.digest(of: session), purpose: .endedSession, payload: [],
                    // Keeps the row longer, because a replica with a slow clock must still find it.
                    expiresAt: session.expiresAt.advanced(
                        byMilliseconds: SignInUseCases.longestClockDifference)))
        } catch {
            unwritten.withLock { ends in
                ends[session.key] = max(ends[session.key] ?? session.expiresAt, session.expiresAt)
            }
            throw error
        }
    }

    /// Returns true if the session was ended. Throws `StorageError`, in which case no session may be treated
    /// as valid.
    func contains(_ session: ConsoleSession, at moment: Moment) async throws -> Bool {
        if let end = unwritten.withLock({ $0[session.key] }), session.expiresAt <= end { return true }
        return try await tickets.hasTicket(
            digest: Self.digest(of: session), purpose: .endedSession, at: moment)
    }

    /// Returns a digest that cannot be equal to a browser session's digest. The rows of both kinds of session
    /// have the same purpose, so equal digests would collide.
    private static func digest(of session: ConsoleSession) -> TicketDigest {
        TicketDigest(SHA256Digest.hash(Array("siwa console session\n".utf8) + session.id))
    }
}

/// A console cookie. If the browser uses https, its name has the prefix `__Host-`, so that no other host in
/// the domain can set it (RFC 6265bis §4.1.3.2).
struct ConsoleCookie: Sendable {
    static let session = ConsoleCookie(name: "siwa-console", lifetime: ConsoleSession.lifetime / 1000)
    static let notice = ConsoleCookie(name: "siwa-console-notice", lifetime: 60)

    let name: String
    /// Lifetime in seconds.
    let lifetime: Int64

    private func fullName(isSecure: Bool) -> String { (isSecure ? "__Host-" : "") + name }

    /// Returns the values of the cookie under both names, the protected name first.
    func values(in field: String?) -> [String] {
        [true, false].compactMap { CookieField.value(of: fullName(isSecure: $0), in: field) }
    }

    func set(_ value: String, isSecure: Bool) -> String { field(value, lifetime, isSecure: isSecure) }

    /// Header values that delete the cookie under both names.
    var deletions: [String] { [field("", 0, isSecure: true), field("", 0, isSecure: false)] }

    private func field(_ value: String, _ age: Int64, isSecure: Bool) -> String {
        "\(fullName(isSecure: isSecure))=\(value); Path=/; Max-Age=\(age); HttpOnly; SameSite=Strict"
            + (isSecure ? "; Secure" : "")
    }
}

/// Creates and reads the values of the console's cookies.
struct ConsoleSeal: Sendable {
    /// Maximum length in bytes. The console's own values are shorter, so it rejects longer values unread.
    static let longest = 4096

    enum Content: String {
        case session = "console_session"
        /// A sentence for the next page to show.
        case notice = "console_notice"
    }

    let keys: SealingKeyRing

    /// - Parameter session: ID of the only session that can open the value; empty if any session can.
    func seal(_ content: Content, _ bytes: [UInt8], of session: [UInt8] = []) -> String {
        Base64URL.encode(
            keys.seal(
                bytes, for: SealingPurpose(content.rawValue),
                associatedData: Array(content.rawValue.utf8) + session))
    }

    /// Returns `nil` for a value that was not sealed by this service for this purpose and session.
    func open(_ content: Content, _ text: String?, of session: [UInt8] = []) -> [UInt8]? {
        guard let text, text.utf8.count <= Self.longest, let sealed = Base64URL.decode(text) else {
            return nil
        }
        return try? keys.open(
            sealed, for: SealingPurpose(content.rawValue),
            associatedData: Array(content.rawValue.utf8) + session)
    }
}

/// The token that each form in a session sends back, so that another site's page cannot make the operator's
/// browser submit a form (CSRF).
enum ConsoleFormToken {
    static func make(key: [UInt8]) -> String { Base64URL.encode(HMACSHA256(key: key).code(for: message)) }

    /// Returns true if the token is correct. Compares in constant time.
    static func isValid(_ token: String?, key: [UInt8]) -> Bool {
        guard let token, token.utf8.count == 43, let code = Base64URL.decode(token) else { return false }
        return HMACSHA256(key: key).isValid(code, for: message)
    }

    private static let message = Array("siwa console form".utf8)
}
