/// The types of event that Apple is known to send. Any other string can be sent as well.
public enum NotificationType: String, Sendable, CaseIterable {
    case consentRevoked = "consent-revoked"
    /// The spelling of Apple's present text and of real deliveries.
    case accountDeleted = "account-deleted"
    /// The spelling of Apple's older text and of all libraries.
    case accountDelete = "account-delete"
    case emailDisabled = "email-disabled"
    case emailEnabled = "email-enabled"

    /// Events about the relay address say which one.
    var carriesEmail: Bool { self == .emailDisabled || self == .emailEnabled }
}
