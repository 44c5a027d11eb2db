/// An Apple Account change that Apple reports to apps. The raw value is the last part of the control API
/// path.
public enum AccountChange: String, Sendable, CaseIterable {
    /// The user stops using Sign in with Apple with one app.
    case revokeConsent = "revoke-consent"
    case deleteAccount = "delete-account"
    case disableForwarding = "disable-email-forwarding"
    case enableForwarding = "enable-email-forwarding"

    var notificationType: NotificationType {
        switch self {
        case .revokeConsent: .consentRevoked
        case .deleteAccount: .accountDeleted
        case .disableForwarding: .emailDisabled
        case .enableForwarding: .emailEnabled
        }
    }

    /// Beginning of the summary in the description of the control API.
    var summary: String {
        switch self {
        case .revokeConsent: "Ends the user's use of an app"
        case .deleteAccount: "Deletes the user's Apple account"
        case .disableForwarding: "Turns e-mail forwarding off"
        case .enableForwarding: "Turns e-mail forwarding on"
        }
    }

    func apply(to user: inout EmulatedUser, app: String) {
        switch self {
        case .revokeConsent: user.apps.remove(app)
        case .deleteAccount:
            user.apps.removeAll()
            user.isDeleted = true
        case .disableForwarding: user.forwardsEmail = false
        case .enableForwarding: user.forwardsEmail = true
        }
    }
}

/// Settings for delivering notifications about account changes. The defaults are Apple's documented
/// behaviour.
public struct DeliveryPlan: Sendable, Equatable, Codable {
    /// Number of times each notification is posted with the same payload, 1 to 10. Apple sometimes repeats a
    /// notification.
    public var copies = 1
    /// True to hold notifications until they are released. They can be released in any order.
    public var holds = false
    /// True to post a notification again, with growing delays, until the receiver responds with 200.
    public var retries = true
    /// Delay before the first retry. It doubles with each retry, up to `longestRetryDistance`.
    public var firstRetryMilliseconds: Int64 = 1000

    public static let longestRetryDistance: Int64 = 300_000
    /// Maximum number of attempts per notification, which take about half an hour in total.
    public static let maximumAttempts = 15

    public init() {}

    /// Returns the delay before the next attempt, in milliseconds; `nil` after the last attempt.
    func distance(afterAttempts attempts: Int) -> Int64? {
        guard retries, attempts < Self.maximumAttempts else { return nil }
        return min(firstRetryMilliseconds << Int64(max(0, attempts - 1)), Self.longestRetryDistance)
    }
}
