/// The event types that Apple sends. Any other string can be sent too.
public enum NotificationType: String, Sendable, CaseIterable {
    case consentRevoked = "consent-revoked"
    /// The spelling of Apple's current documentation and of its notifications.
    case accountDeleted = "account-deleted"
    /// The spelling of Apple's older documentation and of most libraries.
    case accountDelete = "account-delete"
    case emailDisabled = "email-disabled"
    case emailEnabled = "email-enabled"

    /// Events about the relay address contain the address.
    var carriesEmail: Bool { self == .emailDisabled || self == .emailEnabled }
}
