import AppleAccounts
import Encodings
import StrictJSON

/// What the browser carries from the callback to the last step, sealed: the result, and the browser that it
/// is for.
struct WebTicket: Hashable {
    enum Answer: Hashable {
        /// For the app's page.
        case code(String)
        /// For the authorization endpoint.
        case authentication(WebAuthentication)
        case failure(WebFailure)
    }

    let browserDigest: [UInt8]
    let clientID: ClientID
    let expiresAt: Moment
    let destination: WebDestination
    let answer: Answer

    init(
        browserDigest: [UInt8], clientID: ClientID, expiresAt: Moment, destination: WebDestination,
        answer: Answer
    ) {
        self.browserDigest = browserDigest
        self.clientID = clientID
        self.expiresAt = expiresAt
        self.destination = destination
        self.answer = answer
    }

    var json: [UInt8] {
        var json = JSONWriter(reservingCapacity: 256)
        json.beginObject()
        json.member("browser", Base64URL.encode(browserDigest))
        json.member("client_id", clientID.rawValue)
        json.member("expires", expiresAt.milliseconds)
        json.members(of: destination)
        switch answer {
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
        let answer: Answer
        if let code = value["code"]?.string {
            answer = .code(code)
        } else if let authentication = WebAuthentication(json: value) {
            answer = .authentication(authentication)
        } else if let error = value["error"]?.string {
            answer = .failure(WebFailure(error: error, description: value["error_description"]?.string))
        } else {
            return nil
        }
        self.init(
            browserDigest: browser, clientID: clientID, expiresAt: Moment(milliseconds: expires),
            destination: WebDestination(json: value), answer: answer)
    }
}
