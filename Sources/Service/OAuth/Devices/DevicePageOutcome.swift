public import AppleAccounts
public import AuthorizationServer
public import SignIn

/// The next step of a request to the page for the users of devices.
public struct DevicePageOutcome: Sendable {
    public let action: Action
    public let query: DeviceQuery
    public let session: AuthorizeOutcome.SessionChange
    /// The client of the device, where the code is right.
    public var client: OAuthClient?

    public enum Action: Sendable {
        /// The page that asks for the code.
        case enter(EntryFault?)
        /// The page that asks for consent.
        case ask(DevicePrompt)
        /// A page that leads by itself to this address, which redirects to Apple's page.
        case goOn(UserCode, String)
        /// Redirects to Apple's page, by 303.
        case signIn(WebAuthorizationRequest)
        /// Redirects back to this page after a sign-in, by 303.
        case resume(String)
        /// The user has agreed, and the device gets tokens with its next poll.
        case agreed(OAuthClient)
        /// The user has refused.
        case refused(OAuthClient)
        /// A page that says that the account is disabled.
        case disabled
        /// An error page. Nothing was changed.
        case refusal(UserPageRefusal)
    }

    /// The reason for which the page asks for another code.
    public enum EntryFault: Sendable, Hashable {
        /// No device shows such a code.
        case malformed
        /// No device waits with this code.
        case unknown
        /// The device authorization has expired, or a user has decided already.
        case over
        /// Too many wrong codes. Seconds to wait.
        case paused(Int64)
    }

    init(
        _ action: Action, _ query: DeviceQuery, session: AuthorizeOutcome.SessionChange = .keep,
        client: OAuthClient? = nil
    ) {
        (self.action, self.query, self.session) = (action, query, session)
        self.client = client
    }
}

/// Contents of the page that asks a user for consent to a device.
public struct DevicePrompt: Sendable {
    public let client: OAuthClient
    public let appName: LocalizedText
    public let account: Account
    /// Scopes that the device requests, in its order.
    public let scopes: [DeclaredScope]
    /// The code, for the user to compare with the device's.
    public let userCode: UserCode
    public let origin: DeviceAuthorization.Origin
    /// Whole minutes since the request of the device.
    public let minutesAgo: Int64
    public let formToken: String
}
