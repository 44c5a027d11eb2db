public import AppleAccounts
import Cryptography
import Encodings
import SignIn
import StrictJSON

/// A browser's session after a sign-in with Apple, so that the next authorization
/// request of the same app needs no new sign-in. Stored only in a sealed cookie.
/// A session that ends before it expires is also recorded in `EndedSessions`.
public struct BrowserSession: Sendable, Hashable {
    /// Random bytes that name the session. The browser cannot read them.
    let id: [UInt8]
    public let accountID: AccountID
    /// The primary client ID of the app that the user signed in to. The session is not valid for another app.
    public let clientID: ClientID
    /// The authorization moment of Apple's token.
    public let authenticatedAt: Moment
    public let expiresAt: Moment
    /// The key of the tokens in the forms of this session. The browser cannot read it.
    var formKey: [UInt8]
    /// The round trip to Apple for one request, until the request has its response.
    var roundTrip: RoundTrip?

    /// Number of bytes of a form key.
    static let formKeySize = 32
    /// Number of bytes of an ID.
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

/// The browser's round trip to Apple for one authorization request. It counts once:
/// without it a request that requires a new sign-in would be redirected to Apple
/// endlessly. If it counted longer, a repetition of the request would need no sign-in.
struct RoundTrip: Sendable, Hashable {
    /// Digest of the request's query.
    let requestDigest: SHA256Digest
    /// Time at which the browser was sent to Apple.
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

/// Browser sessions that ended before they expired, so that a copy of the cookie is no longer valid.
///
/// A row has the digest of a session's ID, and stays until the session has expired by the clock of every
/// replica. Only the holder of a genuine session can write a row, one row for each sign-in at Apple.
struct EndedSessions: Sendable {
    let tickets: any TicketStore

    /// Ends a session. Ending it again changes nothing.
    ///
    /// - Throws: `StorageError`.
    func insert(_ session: BrowserSession) async throws {
        _ = try await tickets.insertTicket(
            Ticket(
                digest: Self.digest(of: session), purpose: .endedSession, payload: [],
                // A replica with a slow clock must still find it.
                expiresAt: session.expiresAt.advanced(
                    byMilliseconds: SignInUseCases.longestClockDifference)))
    }

    /// - Throws: `StorageError`.
    func contains(_ session: BrowserSession, at moment: Moment) async throws -> Bool {
        try await tickets.hasTicket(digest: Self.digest(of: session), purpose: .endedSession, at: moment)
    }

    private static func digest(of session: BrowserSession) -> TicketDigest {
        TicketDigest(SHA256Digest.hash(session.id))
    }
}

/// Makes the value of the session's cookie, and reads it.
///
/// The value is sealed, so that a browser can neither make a session nor read its account, not even the
/// user's own browser.
struct SessionSeal: Sendable {
    /// Bound in bytes. Our values are far shorter, and longer values are not worth decoding.
    static let longest = 2048

    private static let purpose = SealingPurpose("oauth_session")

    let keys: SealingKeyRing

    func seal(_ session: BrowserSession) -> String {
        Base64URL.encode(
            keys.seal(
                session.json, for: Self.purpose, associatedData: Array(Self.purpose.rawValue.utf8)))
    }

    /// Returns `nil` for a value that was not sealed here for this purpose. Also returns expired sessions.
    func open(_ text: String?) -> BrowserSession? {
        guard let text, text.utf8.count <= Self.longest, let sealed = Base64URL.decode(text),
            let json = try? keys.open(
                sealed, for: Self.purpose, associatedData: Array(Self.purpose.rawValue.utf8))
        else { return nil }
        return BrowserSession(json: json)
    }
}

/// Proves that a posted form was shown by this service, to this session and for this request.
///
/// The token is a MAC under a key of the session over everything that the user agreed to: account, app, and
/// the whole query of the request with its client, redirect URI, scope, state and challenge. A page of
/// another site cannot make a token (CSRF), and the token of another request or session does not fit.
enum FormToken {
    static func make(for query: String, in session: BrowserSession) -> String {
        Base64URL.encode(HMACSHA256(key: session.formKey).code(for: message(query, session)))
    }

    /// The duration does not depend on the position of a difference.
    static func isValid(_ token: String, for query: String, in session: BrowserSession) -> Bool {
        guard token.utf8.count == 43, let code = Base64URL.decode(token) else { return false }
        return HMACSHA256(key: session.formKey).isValid(code, for: message(query, session))
    }

    /// The query comes last, so that no two pairs have the same message: the other parts have no line break.
    private static func message(_ query: String, _ session: BrowserSession) -> [UInt8] {
        Array("siwa consent\n\(session.accountID.rawValue)\n\(session.clientID.rawValue)\n\(query)".utf8)
    }
}
