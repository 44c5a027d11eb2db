import AppleAccounts
import Encodings
import StrictJSON

/// Data that the browser carries from the callback to the last step, sealed: the outcome, and the browser
/// that it belongs to.
struct WebTicket: Hashable {
    /// The outcome of the sign-in.
    enum Outcome: Hashable {
        /// A code for the app's page.
        case code(String)
        /// An authentication for the authorization endpoint.
        case authentication(WebAuthentication)
        case failure(WebFailure)
    }

    let browserDigest: [UInt8]
    let clientID: ClientID
    let expiresAt: Moment
    var destination: WebDestination
    let outcome: Outcome

    init(
        browserDigest: [UInt8], clientID: ClientID, expiresAt: Moment, destination: WebDestination,
        outcome: Outcome
    ) {
        self.browserDigest = browserDigest
        self.clientID = clientID
        self.expiresAt = expiresAt
        self.destination = destination
        self.outcome = outcome
    }

    var json: [UInt8] {
        var json = JSONWriter(reservingCapacity: 256)
        json.beginObject()
        json.member("browser", Base64URL.encode(browserDigest))
        json.member("client_id", clientID.rawValue)
        json.member("expires", expiresAt.milliseconds)
        json.members(of: destination)
        switch outcome {
        case .code(let code): json.member("code", code)
        case .authentication(let authentication): json.members(of: authentication)
        case .failure(let failure):
            json.member("error", failure.error)
            json.member("error_description", ifPresent: failure.description)
        }
        json.endObject()
        return json.bytes
    }

    init?(json: [UInt8]) {
        guard let value = try? JSONValue(parsing: json),
            let browser = value["browser"]?.string.flatMap({ Base64URL.decode($0) }),
            let clientID = value["client_id"]?.string.flatMap({ ClientID($0) }),
            let expires = value["expires"]?.integer
        else { return nil }
        let outcome: Outcome
        if let code = value["code"]?.string {
            outcome = .code(code)
        } else if let authentication = WebAuthentication(json: value) {
            outcome = .authentication(authentication)
        } else if let error = value["error"]?.string {
            outcome = .failure(WebFailure(error: error, description: value["error_description"]?.string))
        } else {
            return nil
        }
        self.init(
            browserDigest: browser, clientID: clientID, expiresAt: Moment(milliseconds: expires),
            destination: WebDestination(json: value), outcome: outcome)
    }
}
