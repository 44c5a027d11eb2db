public import AppleAccounts
import Cryptography
import Encodings
import StrictJSON

/// A browser's session after a sign-in with Apple, so that the next authorization request of the same app
/// needs no other sign-in. It is in a sealed cookie and nowhere else, until it ends before its time
/// (`EndedSessions`).
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

/// The browser's round trip to Apple for one authorization request. It counts once: without it a request that
/// requires a new sign-in would be redirected to Apple for ever. If it counted longer, a repetition of the
/// request would need no sign-in.
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
