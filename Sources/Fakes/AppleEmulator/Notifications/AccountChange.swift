/// A change to an Apple Account about which Apple notifies apps. The raw value is the last part of the path
/// in the control API.
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
