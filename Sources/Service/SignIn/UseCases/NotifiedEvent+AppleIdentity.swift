import AppleAccounts
import AppleIdentity

extension NotifiedEvent {
    /// Uses the time at which the notification was issued for an event without a time of its own.
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
    /// is a relay address: such an address would replace an address of which more is known.
    ///
    /// Events have no claim "verified". A relay address is Apple's own; any other is not known to be
    /// verified.
    fileprivate init?(_ event: NotificationEvent) {
        guard let address = event.email, let isPrivate = event.isPrivateEmail else { return nil }
        self.init(address: address, isVerified: isPrivate, isPrivate: isPrivate)
    }
}
