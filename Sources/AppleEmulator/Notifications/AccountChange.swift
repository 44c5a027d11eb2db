/// What a person can do to their Apple Account, and Apple then tells the apps. The raw value ends the path of
/// the call.
public enum AccountChange: String, Sendable, CaseIterable {
    /// Stops using one app with Sign in with Apple.
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
