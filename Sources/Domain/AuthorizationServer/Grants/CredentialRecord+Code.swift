public import AppleAccounts

extension CredentialRecord {
    /// Returns the authorization that a code belongs to, if the credential gives one for this authentication.
    ///
    /// The transaction of the code decides by this rule. The prompt of App Flip asks it ahead, so that a user
    /// who cannot be linked is not asked.
    ///
    /// - Parameters:
    ///   - oldest: The earliest permitted authentication; `nil` without `max_authentication_age`.
    ///   - isDeletedAtApple: True if the Apple Account was deleted, which a later revocation of one app hides.
    public func authorization(
        forAuthenticationAt moment: Moment, notBefore oldest: Moment?, isDeletedAtApple: Bool = false
    ) throws(GrantRefusal) -> Authorization {
        guard state == .authorized, let authorization else {
            let isDeleted = isDeletedAtApple || reason == .appleAccountDeleted
            throw GrantRefusal(isDeleted ? .appleAccountDeleted : .credentialRevoked)
        }
        // A session from before the latest revocation has ended with it, even if the user has signed in again
        // elsewhere.
        guard admits(authorizationAt: moment) else { throw GrantRefusal(.credentialRevoked) }
        if let oldest, moment < oldest { throw GrantRefusal(.authenticationTooOld) }
        return authorization
    }
}
