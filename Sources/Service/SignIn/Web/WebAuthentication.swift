public import AppleAccounts
public import Encodings
import StrictJSON

/// A completed sign-in that the authorization endpoint or another of this service's pages started.
public struct WebAuthentication: Sendable, Hashable {
    public let accountID: AccountID
    /// The app's primary client ID.
    public let clientID: ClientID
    /// The authorization time in Apple's token.
    public let authenticatedAt: Moment
    /// Time at which the service redirected the browser to Apple.
    public let begunAt: Moment
    /// Time at which this service verified Apple's token.
    public let signedInAt: Moment

    public init(
        accountID: AccountID, clientID: ClientID, authenticatedAt: Moment, begunAt: Moment, signedInAt: Moment
    ) {
        self.accountID = accountID
        self.clientID = clientID
        self.authenticatedAt = authenticatedAt
        self.begunAt = begunAt
        self.signedInAt = signedInAt
    }

    init?(json: JSONValue) {
        guard let accountID = json["account_id"]?.string.flatMap({ AccountID($0) }),
            let clientID = json["app"]?.string.flatMap({ ClientID($0) }),
            let authenticatedAt = json["authenticated"]?.integer, let begunAt = json["begun"]?.integer,
            let signedInAt = json["signed_in"]?.integer
        else { return nil }
        self.init(
            accountID: accountID, clientID: clientID, authenticatedAt: Moment(milliseconds: authenticatedAt),
            begunAt: Moment(milliseconds: begunAt), signedInAt: Moment(milliseconds: signedInAt))
    }
}

extension JSONWriter {
    mutating func members(of authentication: WebAuthentication) {
        member("account_id", authentication.accountID.rawValue)
        member("app", authentication.clientID.rawValue)
        member("authenticated", authentication.authenticatedAt.milliseconds)
        member("begun", authentication.begunAt.milliseconds)
        member("signed_in", authentication.signedInAt.milliseconds)
    }
}

/// The end of a web sign-in for the browser that started it.
public enum WebArrival: Sendable, Hashable {
    /// The URL of the app's own page, including the code or the error.
    case appPage(String)
    /// Return to the authorization request with this query, after a successful sign-in.
    case authorization(query: String, WebAuthentication)
    /// Return to the authorization request with this query, after a failed sign-in.
    case refusedAuthorization(query: String, WebFailure)
    /// Return to the connections page, after a successful sign-in.
    case connections(query: String, WebAuthentication)
    /// Return to the connections page, after a failed sign-in.
    case refusedConnections(query: String, WebFailure)
    /// Return to the device page, after a successful sign-in.
    case device(query: String, WebAuthentication)
    /// Return to the device page, after a failed sign-in.
    case refusedDevice(query: String, WebFailure)
}

/// A failed web sign-in, described to the app's page in the terms of RFC 6749 §4.1.2.1.
public struct WebFailure: Sendable, Hashable {
    /// An error code from Apple or from this service.
    public let error: String
    /// A stable code, if this service detected the failure.
    public let description: String?

    init(error: String, description: String?) {
        (self.error, self.description) = (error, description)
    }

    /// This service refused Apple's token.
    public static func invalidIdentityToken(_ code: String) -> WebFailure {
        WebFailure(error: "invalid_identity_token", description: code)
    }

    /// The token is valid, but the account rules refuse the sign-in.
    public static func signInRefused(_ code: String) -> WebFailure {
        WebFailure(error: "sign_in_refused", description: code)
    }

    /// True if the sign-in was refused because the account is disabled.
    public var isOfDisabledAccount: Bool {
        self == .signInRefused(AccountRefusal.Code.accountDisabled.rawValue)
    }

    /// The failure is temporary, so a retry may succeed.
    public static func temporarilyUnavailable(_ code: String) -> WebFailure {
        WebFailure(error: "temporarily_unavailable", description: code)
    }

    /// The form does not have Apple's format.
    public static func invalidRequest(_ code: String) -> WebFailure {
        WebFailure(error: "invalid_request", description: code)
    }

    /// Apple sent this error, usually `user_cancelled_authorize`. It is not signed, so the service forwards
    /// it only if it is a plain word.
    public static func fromApple(_ error: String) -> WebFailure {
        let isWord =
            (1...64).contains(error.utf8.count)
            && error.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                    UInt8(ascii: "_"):
                    true
                default: false
                }
            }
        return WebFailure(error: isWord ? error : "server_error", description: nil)
    }
}

/// A step of a web sign-in was refused.
public struct WebRefusal: CodedError {
    /// Refusal codes. The raw values are the codes on the wire.
    public enum Code: String, Sendable, CaseIterable {
        /// This service did not make the `state`.
        case stateInvalid = "web_state_invalid"
        case stateExpired = "web_state_expired"
        /// The `state` was already used in a sign-in.
        case stateUsed = "web_state_used"
        /// This service did not make the ticket.
        case ticketInvalid = "web_ticket_invalid"
        case ticketExpired = "web_ticket_expired"
        /// Another browser started the sign-in.
        case browserMismatch = "web_browser_mismatch"
        /// The code is unknown, used or expired. The caller does not learn which.
        case codeInvalid = "web_code_invalid"
    }

    public let code: Code

    public init(_ code: Code) {
        self.code = code
    }
}

extension WebRefusal {
    public var description: String { "web sign-in refused: \(code.rawValue)" }
}
