public import AppleAccounts
import Cryptography
import Encodings
import SignIn
import StrictJSON

/// A browser session after a sign-in with Apple. During a session, other authorization requests for the same
/// app need no new sign-in. The session is stored only in a sealed cookie. `EndedSessions` records a session
/// that ends before it expires.
public struct BrowserSession: Sendable, Hashable {
    /// Random bytes that identify the session. The browser cannot read them.
    let id: [UInt8]
    public let accountID: AccountID
    /// The primary client ID of the app that the user signed in to. The session is valid only for this app.
    public let clientID: ClientID
    /// The authorization time in Apple's token.
    public let authenticatedAt: Moment
    public let expiresAt: Moment
    /// The key for the session's form tokens. The browser cannot read it.
    var formKey: [UInt8]
    /// The round trip to Apple for a request; `nil` once the request has its response.
    var roundTrip: RoundTrip?

    /// Form key size in bytes.
    static let formKeySize = 32
    /// Session ID size in bytes.
    static let idSize = 16

    init(
        accountID: AccountID, clientID: ClientID, authenticatedAt: Moment, expiresAt: Moment,
        id: [UInt8] = SecureRandom.bytes(count: idSize),
        formKey: [UInt8] = SecureRandom.bytes(count: formKeySize), roundTrip: RoundTrip? = nil
    ) {
        self.id = id
        self.accountID = accountID
        self.clientID = clientID
        self.authenticatedAt = authenticatedAt
        self.expiresAt = expiresAt
        self.formKey = formKey
        self.roundTrip = roundTrip
    }

    func isGood(for app: ClientID, at moment: Moment) -> Bool { clientID == app && moment < expiresAt }
}

/// A browser's round trip to Apple for one authorization request. Without this record, a request that
/// requires a new sign-in would be redirected to Apple endlessly. A round trip counts only once, because
/// otherwise a repeated request would need no sign-in.
struct RoundTrip: Sendable, Hashable {
    /// The digest of the request's query.
    let requestDigest: SHA256Digest
    /// Time at which the service redirected the browser to Apple.
    let begunAt: Moment

    func isFor(_ query: String) -> Bool { requestDigest == SHA256Digest.hash(query) }
}

extension BrowserSession {
    var json: [UInt8] {
        var json = JSONWriter(reservingCapacity: 320)
        json.beginObject()
        json.member("id", Base64URL.encode(id))
        json.member("account", accountID.rawValue)
        json.member("app", clientID.rawValue)
        json.member("authenticated", authenticatedAt.milliseconds)
        json.member("expires", expiresAt.milliseconds)
        json.member("form_key", Base64URL.encode(formKey))
        if let roundTrip {
            json.member("request", Base64URL.encode(roundTrip.requestDigest.bytes))
            json.member("begun", roundTrip.begunAt.milliseconds)
        }
        json.endObject()
        return json.bytes
    }

    init?(json: [UInt8]) {
        guard let value = try? JSONValue(parsing: json),
            let id = value["id"]?.string.flatMap({ Base64URL.decode($0) }), id.count == Self.idSize,
            let accountID = value["account"]?.string.flatMap({ AccountID($0) }),
            let clientID = value["app"]?.string.flatMap({ ClientID($0) }),
            let authenticatedAt = value["authenticated"]?.integer, let expiresAt = value["expires"]?.integer,
            let formKey = value["form_key"]?.string.flatMap({ Base64URL.decode($0) }),
            formKey.count == Self.formKeySize
        else { return nil }
        var roundTrip: RoundTrip?
        if let digest = value["request"]?.string.flatMap({ Base64URL.decode($0) })
            .flatMap({ SHA256Digest($0) }), let begunAt = value["begun"]?.integer
        {
            roundTrip = RoundTrip(requestDigest: digest, begunAt: Moment(milliseconds: begunAt))
        }
        self.init(
            accountID: accountID, clientID: clientID,
            authenticatedAt: Moment(milliseconds: authenticatedAt),
            expiresAt: Moment(milliseconds: expiresAt), id: id, formKey: formKey, roundTrip: roundTrip)
    }
}

/// Sessions that ended before they expired. This record invalidates copies of their cookies.
///
/// A row contains the digest of a session ID, and is kept until the session has expired by every replica's
/// clock. Only the holder of a genuine session can add a row, and each sign-in at Apple allows one row.
struct EndedSessions: Sendable {
    let tickets: any TicketStore

    /// Ends a session. Does nothing if the session has already ended.
    ///
    /// - Throws: `StorageError` if a database operation fails.
    func insert(_ session: BrowserSession) async throws {
        _ = try await tickets.insertTicket(
            Ticket(
                digest: Self.digest(of: session), purpose: .endedSession, payload: [],
                // Replicas with slow clocks must still find the row.
                expiresAt: session.expiresAt.advanced(
                    byMilliseconds: SignInUseCases.longestClockDifference)))
    }

    /// Returns `true` if the session was ended.
    func contains(_ session: BrowserSession, at moment: Moment) async throws -> Bool {
        try await tickets.hasTicket(digest: Self.digest(of: session), purpose: .endedSession, at: moment)
    }

    private static func digest(of session: BrowserSession) -> TicketDigest {
        TicketDigest(SHA256Digest.hash(session.id))
    }
}

/// Makes and reads the session cookie's value.
///
/// The value is sealed, so that no browser, including the user's own browser, can forge a session or read its
/// account.
struct SessionSeal: Sendable {
    /// Maximum length of a value in bytes. Genuine values are far shorter, so longer values are not decoded.
    static let longest = 2048

    private static let purpose = SealingPurpose("oauth_session")

    let keys: SealingKeyRing

    func seal(_ session: BrowserSession) -> String {
        Base64URL.encode(
            keys.seal(
                session.json, for: Self.purpose, associatedData: Array(Self.purpose.rawValue.utf8)))
    }

    /// Returns the session in a value, even if it has expired; `nil` for a value that this service did not
    /// seal for this purpose.
    func open(_ text: String?) -> BrowserSession? {
        guard let text, text.utf8.count <= Self.longest, let sealed = Base64URL.decode(text),
            let json = try? keys.open(
                sealed, for: Self.purpose, associatedData: Array(Self.purpose.rawValue.utf8))
        else { return nil }
        return BrowserSession(json: json)
    }
}

/// A form token, which proves that this service showed the form to this session for this request.
///
/// The token is a MAC, keyed with the session's form key, over everything that the user agrees to: the
/// account, the app, and the whole query with its client, redirect URI, scope, state and challenge. Another
/// site's page cannot make such a token (CSRF), and a token from another request or session is invalid.
enum FormToken {
    static func make(for query: String, in session: BrowserSession) -> String {
        Base64URL.encode(HMACSHA256(key: session.formKey).code(for: message(query, session)))
    }

    /// Returns true if the token was made for this query and session. Compares in constant time.
    static func isValid(_ token: String, for query: String, in session: BrowserSession) -> Bool {
        guard token.utf8.count == 43, let code = Base64URL.decode(token) else { return false }
        return HMACSHA256(key: session.formKey).isValid(code, for: message(query, session))
    }

    /// Returns the message for the MAC. The query comes last, and the other parts contain no line break, so
    /// different inputs have different messages.
    private static func message(_ query: String, _ session: BrowserSession) -> [UInt8] {
        Array("siwa consent\n\(session.accountID.rawValue)\n\(session.clientID.rawValue)\n\(query)".utf8)
    }
}
