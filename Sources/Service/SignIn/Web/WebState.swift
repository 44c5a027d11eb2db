public import AppleAccounts
import Cryptography
import Encodings
import StrictJSON

/// The state of a web sign-in while the user is at Apple. Travels as `state`, sealed.
public struct WebState: Sendable, Hashable {
    /// 192 random bits. Also identifies the state when it is used up.
    let nonce: String
    /// The digest of the secret in the browser's cookie.
    let browserDigest: [UInt8]
    public let clientID: ClientID
    let expiresAt: Moment
    let destination: WebDestination

    init(
        nonce: String, browserDigest: [UInt8], clientID: ClientID, expiresAt: Moment,
        destination: WebDestination
    ) {
        self.nonce = nonce
        self.browserDigest = browserDigest
        self.clientID = clientID
        self.expiresAt = expiresAt
        self.destination = destination
    }

    /// Time at which the browser was sent to Apple.
    var begunAt: Moment { expiresAt.advanced(byMilliseconds: -WebSignIn.longestVisit) }

    /// Returns 32 characters: a length that no digest has, so that the nonce is never taken for the digest of
    /// a minted nonce.
    static func makeNonce() -> String {
        Base64URL.encode(SecureRandom.bytes(count: 24))
    }

    var json: [UInt8] {
        var json = JSONWriter(reservingCapacity: 256)
        json.beginObject()
        json.member("nonce", nonce)
        json.member("browser", Base64URL.encode(browserDigest))
        json.member("client_id", clientID.rawValue)
        json.member("expires", expiresAt.milliseconds)
        json.members(of: destination)
        json.endObject()
        return json.bytes
    }

    init?(json: [UInt8]) {
        guard let value = try? JSONValue(parsing: json), let nonce = value["nonce"]?.string,
            let browser = value["browser"]?.string.flatMap({ Base64URL.decode($0) }),
            let clientID = value["client_id"]?.string.flatMap({ ClientID($0) }),
            let expires = value["expires"]?.integer
        else { return nil }
        self.init(
            nonce: nonce, browserDigest: browser, clientID: clientID,
            expiresAt: Moment(milliseconds: expires), destination: WebDestination(json: value))
    }
}
