/// A step of a protocol: who asks whom, and the section of the specification that describes the request.
public struct ExchangeStep: Sendable, Equatable {
    /// A party of the fake world.
    public enum Party: String, Sendable, CaseIterable {
        /// The user's browser, and the app with its backend.
        case browser, google, siwa, apple
    }

    public let from: Party
    public let to: Party
    /// Such as "RFC 6749 §4.1.3".
    public let standard: String
    /// True for requests that repeat without a user, such as daily checks.
    public let isRoutine: Bool
    /// True for a step that leads the browser on, and has no response of its own.
    public let isOneWay: Bool

    public init(
        _ from: Party, _ to: Party, _ standard: String, isRoutine: Bool = false, isOneWay: Bool = false
    ) {
        (self.from, self.to, self.standard) = (from, to, standard)
        (self.isRoutine, self.isOneWay) = (isRoutine, isOneWay)
    }
}

extension ExchangeStep {
    // The browser and the app.
    public static let authorizationRequest = ExchangeStep(
        .google, .browser, "RFC 6749 §4.1.1", isOneWay: true)
    public static let authorizationResponse = ExchangeStep(
        .browser, .google, "RFC 6749 §4.1.2", isOneWay: true)
    public static let appFlip = ExchangeStep(.browser, .siwa, "Google: App Flip")
    public static let appSignIn = ExchangeStep(.browser, .apple, "Apple: ASAuthorizationController")
    public static let appleAuthorization = ExchangeStep(.browser, .apple, "OpenID Connect Core §3.1.2")

    // Google and siwa.
    public static let codeExchange = ExchangeStep(.google, .siwa, "RFC 6749 §4.1.3")
    public static let refresh = ExchangeStep(.google, .siwa, "RFC 6749 §6")
    public static let introspection = ExchangeStep(.browser, .siwa, "RFC 7662 §2.1")
    public static let revocation = ExchangeStep(.google, .siwa, "RFC 7009 §2.1")
    public static let assertion = ExchangeStep(.google, .siwa, "RFC 7523 §2.1")
    public static let pushedEvent = ExchangeStep(.google, .siwa, "RFC 8935 §2.1")
    public static let serverMetadata = ExchangeStep(.google, .siwa, "OpenID SSF §7.2")
    public static let serverKeys = ExchangeStep(.google, .siwa, "RFC 7517 §5")
    public static let reportedEvent = ExchangeStep(.siwa, .google, "RFC 8935 §2.1")
    public static let googleKeys = ExchangeStep(.siwa, .google, "RFC 7517 §5")
    public static let googleMetadata = ExchangeStep(.siwa, .google, "OpenID SSF §7.2")
    public static let eventStream = ExchangeStep(.siwa, .google, "OpenID SSF §8.1")

    // siwa and Apple.
    public static let appleKeys = ExchangeStep(.siwa, .apple, "RFC 7517 §5")
    public static let appleMetadata = ExchangeStep(.siwa, .apple, "OpenID Connect Discovery §4")
    public static let appleCodeExchange = ExchangeStep(.siwa, .apple, "RFC 6749 §4.1.3")
    /// Requests of `siwa doctor`.
    public static let appleKeysTrial = ExchangeStep(.siwa, .apple, "RFC 7517 §5", isRoutine: true)
    public static let applePageTrial = ExchangeStep(
        .siwa, .apple, "OpenID Connect Core §3.1.2", isRoutine: true)
    public static let appleSecretTrial = ExchangeStep(.siwa, .apple, "RFC 6749 §4.1.3", isRoutine: true)
    public static let appleRefresh = ExchangeStep(.siwa, .apple, "RFC 6749 §6", isRoutine: true)
    public static let appleClientGrant = ExchangeStep(.siwa, .apple, "RFC 6749 §4.4.2")
    public static let appleRevocation = ExchangeStep(.siwa, .apple, "RFC 7009 §2.1")
    public static let appleMigration = ExchangeStep(.siwa, .apple, "Apple: TN3159")
    public static let appleReceipt = ExchangeStep(.siwa, .apple, "Apple: Assessing fraud risk")
    public static let appleNotification = ExchangeStep(.apple, .siwa, "RFC 8417 §2")
}
