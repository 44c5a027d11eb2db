import AppleAccounts
import AppleIdentity

extension NotifiedEvent {
    /// An event without a time of its own counts from when the notification was issued.
    init(_ event: NotificationEvent, of notification: VerifiedNotification) {
        let moment =
            event.eventTimeMilliseconds.map { Moment(milliseconds: $0) }
            ?? Moment(seconds: notification.issuedAt.secondsSince1970)
        self.init(
            change: Change(event), type: event.type, subject: event.subject.flatMap { AppleSubject($0) },
            moment: moment)
    }
}

extension NotifiedEvent.Change {
    fileprivate init(_ event: NotificationEvent) {
        self =
            switch event.kind {
            case .consentRevoked: .consentRevoked
            case .accountDeleted: .appleAccountDeleted
            case .emailEnabled: .emailForwarding(.enabled, EmailAddress(event))
            case .emailDisabled: .emailForwarding(.disabled, EmailAddress(event))
            case .unknown: .unknown
            }
    }
}

extension EmailAddress {
    /// Returns `nil` when the event has no address, or when neither its claim nor the domain shows whether it
    /// is a relay address: such an address would replace one of which more is known.
    ///
    /// Events do not say "verified". A relay address is Apple's own; any other is not known to be verified.
    fileprivate init?(_ event: NotificationEvent) {
        guard let address = event.email, let isPrivate = event.isPrivateEmail else { return nil }
        self.init(address: address, isVerified: isPrivate, isPrivate: isPrivate)
    }
}
