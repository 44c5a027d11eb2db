package import AppleAccounts

/// Google's last word about a Google account: whether it is disabled.
package struct GoogleAccountRecord: Sendable, Hashable {
    package let subject: String
    package let isDisabled: Bool
    /// By Google's clock.
    package let moment: Moment

    package init(subject: String, isDisabled: Bool, moment: Moment) {
        (self.subject, self.isDisabled, self.moment) = (subject, isDisabled, moment)
    }

    /// Whether this one stays when both were said, in whatever order they came. Of two words of one moment
    /// that which disables stays.
    func isLater(than other: GoogleAccountRecord) -> Bool {
        (moment.milliseconds, isDisabled ? 1 : 0) > (other.moment.milliseconds, other.isDisabled ? 1 : 0)
    }
}
