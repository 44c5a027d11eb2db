/// A period during which an account is disabled: its user cannot sign in, and its OAuth tokens are suspended.
public struct Disabling: Sendable, Hashable {
    /// Reason for disabling an account. Only these words are allowed, so that no free text about a user is
    /// stored.
    public enum Reason: String, Sendable, Hashable, CaseIterable {
        /// The user broke the app's rules.
        case abuse
        case fraud
        /// Another person may use the account.
        case security
        case payment
        case legal
        /// The user requested it.
        case requested
        case other
    }

    /// Start of the period, by our clock.
    public let since: Moment
    /// End of the period; `Moment.last` if the account stays disabled indefinitely.
    public let until: Moment
    public let reason: Reason

    public init(since: Moment, until: Moment, reason: Reason) {
        (self.since, self.until, self.reason) = (since, until, reason)
    }

    /// Returns true if the period still covers a moment.
    public func holds(at moment: Moment) -> Bool { moment < until }
}

extension Account {
    public func isDisabled(at moment: Moment) -> Bool { disabling?.holds(at: moment) ?? false }

    /// Returns the account as of a moment, without a disabled period that has expired by then.
    public func current(at moment: Moment) -> Account {
        guard let disabling, !disabling.holds(at: moment) else { return self }
        var account = self
        account.disabling = nil
        account.credentials = credentials.map { $0.current(at: moment) }
        return account
    }
}

extension Credential {
    /// Returns the credential as of a moment, without a disabled period that has expired by then.
    public func current(at moment: Moment) -> Credential {
        guard let disabledUntil, moment >= disabledUntil else { return self }
        var credential = self
        credential.disabledUntil = nil
        return credential
    }
}

extension SubjectRecord {
    public func isDisabled(at moment: Moment) -> Bool { disabling?.holds(at: moment) ?? false }
}

/// An account stored as disabled, with its key at the time of the read.
public struct DisabledAccount: Sendable, Hashable {
    public let accountID: AccountID
    public let key: SubjectKey

    public init(accountID: AccountID, key: SubjectKey) { (self.accountID, self.key) = (accountID, key) }
}
