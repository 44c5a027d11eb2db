/// One event of a notification.
public struct NotificationEvent: Sendable, Equatable {
    public enum Kind: Sendable, Equatable {
        case consentRevoked
        case accountDeleted
        case emailEnabled
        case emailDisabled
        /// A type that did not exist when this was written, or none at all.
        case unknown
    }

    public let kind: Kind
    /// `type` as sent; empty when it was absent.
    public let type: String
    /// `sub`; there for every known kind.
    public let subject: String?
    /// `event_time`, in milliseconds since 1970 whatever unit was sent; there for every known kind.
    public let eventTimeMilliseconds: Int64?
    public let email: String?
    /// True when `email` is a relay address: Apple's claim, or where it is absent Apple's domain. `nil` when neither says.
    public let isPrivateEmail: Bool?
}

extension NotificationEvent.Kind {
    /// Apple has spelled account deletion in two ways; both are on the wire.
    init(type: String) {
        self =
            switch type {
            case "consent-revoked": .consentRevoked
            case "account-delete", "account-deleted": .accountDeleted
            case "email-enabled": .emailEnabled
            case "email-disabled": .emailDisabled
            default: .unknown
            }
    }
}
