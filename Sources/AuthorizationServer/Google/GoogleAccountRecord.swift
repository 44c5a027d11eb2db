public import AppleAccounts

/// What Google stated last about a Google account: whether it is disabled.
public struct GoogleAccountRecord: Sendable, Hashable {
    public let subject: String
    public let isDisabled: Bool
    /// By Google's clock.
    public let moment: Moment

    public init(subject: String, isDisabled: Bool, moment: Moment) {
        (self.subject, self.isDisabled, self.moment) = (subject, isDisabled, moment)
    }

    /// Whether this one stays when both have arrived, in either order. Google's times have whole seconds: of
    /// two events of one second the one that enables stays, because Google enables only what it has disabled
    /// before.
    func isLater(than other: GoogleAccountRecord) -> Bool {
        (moment.milliseconds, isDisabled ? 0 : 1) > (other.moment.milliseconds, other.isDisabled ? 0 : 1)
    }
}
