/// One event of a notification.
public struct NotifiedEvent: Sendable, Hashable {
    public enum Change: Sendable, Hashable {
        case consentRevoked
        case appleAccountDeleted
        /// The address comes along with what Apple said of it; `nil` when Apple did not say all.
        case emailForwarding(EmailForwarding, EmailAddress?)
        /// A type that this version does not know. It is kept and changes nothing.
        case unknown
    }

    public let change: Change
    /// Apple's word for the type, as sent.
    public let type: String
    /// `nil` only for a type that is not known.
    public let subject: AppleSubject?
    /// Apple's `event_time`.
    public let moment: Moment

    public init(change: Change, type: String, subject: AppleSubject?, moment: Moment) {
        self.change = change
        self.type = type
        self.subject = subject
        self.moment = moment
    }

    /// Whether it ends credentials.
    public var isRevocation: Bool {
        switch change {
        case .consentRevoked, .appleAccountDeleted: true
        case .emailForwarding, .unknown: false
        }
    }
}
