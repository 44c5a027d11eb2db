public import AppleAccounts

/// Google's last statement about a Google account: enabled or disabled.
public struct GoogleAccountRecord: Sendable, Hashable {
    public let subject: String
    public let isDisabled: Bool
    /// Time of the statement, by Google's clock.
    public let moment: Moment

    public init(subject: String, isDisabled: Bool, moment: Moment) {
        (self.subject, self.isDisabled, self.moment) = (subject, isDisabled, moment)
    }

    /// Returns `true` if this statement stays when both have arrived, in either order. Google's times have
    /// whole seconds: of two events in one second the enabling event stays, because Google enables only an
    /// account that it has disabled before.
    func isLater(than other: GoogleAccountRecord) -> Bool {
        (moment.milliseconds, isDisabled ? 0 : 1) > (other.moment.milliseconds, other.isDisabled ? 0 : 1)
    }
}
