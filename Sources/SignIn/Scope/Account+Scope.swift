import AppleAccounts

extension Account {
    /// The account without the credentials for apps that the caller may not see.
    func narrowed(to scope: AppScope) -> Account {
        guard case .only(let clientIDs) = scope else { return self }
        return Account(
            id: id, team: team, subject: subject, email: email, isEmailVerified: isEmailVerified,
            isPrivateEmail: isPrivateEmail, emailForwarding: emailForwarding, firstName: firstName,
            lastName: lastName, realUserStatus: realUserStatus, createdAt: createdAt,
            lastSignInAt: lastSignInAt, credentials: credentials.filter { clientIDs.contains($0.clientID) })
    }
}

extension SignInOutcome {
    func narrowed(to scope: AppScope) -> SignInOutcome {
        guard case .only = scope else { return self }
        return SignInOutcome(
            account: account.narrowed(to: scope), credential: credential, isNewAccount: isNewAccount)
    }
}
