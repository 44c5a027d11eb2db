/// One event of a notification.
public struct NotificationEvent: Sendable, Equatable {
    public enum Kind: Sendable, Equatable {
        case consentRevoked
        case accountDeleted
        case emailEnabled
        case emailDisabled
        /// A type that this version does not know, or no type.
        case unknown
    }

    public let kind: Kind
    /// `type` as sent; empty when it was absent.
    public let type: String
    /// `sub`; present for every known kind.
    public let subject: String?
    /// `event_time`, in milliseconds since 1970, also where Apple sent seconds; present for every known kind.
    public let eventTimeMilliseconds: Int64?
    public let email: String?
    /// True when `email` is a relay address, according to Apple's claim or, without the claim, to the domain.
    /// `nil` when unknown.
    public let isPrivateEmail: Bool?
}

extension NotificationEvent.Kind {
    /// Apple uses two spellings for account deletion.
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
