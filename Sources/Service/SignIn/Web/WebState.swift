public import AppleAccounts
import Cryptography
import Encodings
import StrictJSON

/// The state of a web sign-in while the user is at Apple. The `state` parameter contains it in sealed form.
public struct WebState: Sendable, Hashable {
    /// A nonce of 192 random bits. It also identifies a consumed state.
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

    /// Time at which the service redirected the browser to Apple.
    var begunAt: Moment { expiresAt.advanced(byMilliseconds: -WebSignIn.longestVisit) }

    /// Returns a nonce of 32 characters. No digest has this length, so the nonce cannot be mistaken for the
    /// digest of a minted nonce.
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

extension QueryText {
    /// Returns the URL with these parameters, and with the `state` for the app's page, which is already
    /// percent-encoded.
    func appended(to url: String, state: String?) -> String {
        guard let state else { return appended(to: url) }
        var query = self
        query.append("state", encoded: state)
        return query.appended(to: url)
    }
}

/// The browser's destination after its return from Apple.
enum WebDestination: Sendable, Hashable {
    /// The app's own page, with the percent-encoded `state` of the sign-in link.
    case appPage(state: String?)
    /// This service's authorization endpoint, with the unchanged query of the authorization request.
    case authorization(query: String)
    /// The connections page, with its query.
    case connections(query: String)
    /// The device page, with its query.
    case device(query: String)

    init(json: JSONValue) {
        if let query = json["query"]?.string {
            self = .authorization(query: query)
        } else if let query = json["connections"]?.string {
            self = .connections(query: query)
        } else if let query = json["device"]?.string {
            self = .device(query: query)
        } else {
            self = .appPage(state: json["state"]?.string)
        }
    }
}

extension WebDestination {
    /// True if the browser gets a session with this service instead of a code for the app's page.
    var givesSession: Bool {
        switch self {
        case .appPage: false
        case .authorization, .connections, .device: true
        }
    }
}

extension JSONWriter {
    mutating func members(of destination: WebDestination) {
        switch destination {
        case .appPage(let state): member("state", ifPresent: state)
        case .authorization(let query): member("query", query)
        case .connections(let query): member("connections", query)
        case .device(let query): member("device", query)
        }
    }
}
