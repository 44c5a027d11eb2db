extension SubjectRecord {
    /// Changes by a sign-in that a caller can see.
    struct SignInChange {
        let accountID: AccountID
        let createdAt: Moment
        /// Time of the last sign-in to the app before.
        var lastSignInAt: Moment?
        var isNewAccount = false
        var isNewlyAuthorized = false
        var isEmailChanged = false
        var isProfileChanged = false
    }

    /// Applies a sign-in that was checked. A sign-in without new facts changes only the credential of the
    /// app.
    mutating func take(
        _ command: SignInCommand, using generator: inout some RandomNumberGenerator
    ) -> SignInChange {
        let stateBefore = record(for: command.clientID).state
        var change: SignInChange
        if let accountID, let createdAt {
            change = SignInChange(accountID: accountID, createdAt: createdAt)
        } else {
            leaveTombstone()
            let id = AccountID(UniqueID(at: command.receivedAt, using: &generator))
            (accountID, createdAt) = (id, command.receivedAt)
            change = SignInChange(accountID: id, createdAt: command.receivedAt, isNewAccount: true)
            touchRow()
        }
        change.isEmailChanged = takeEmail(command)
        change.isProfileChanged = takeProfile(command)
        change.lastSignInAt = takeCredential(command)
        change.isNewlyAuthorized = stateBefore != .authorized
        return change
    }

    private mutating func takeEmail(_ command: SignInCommand) -> Bool {
        let visibleBefore = email?.value.address ?? unsignedEmail
        if let signed = command.email {
            let valueBefore = email?.value
            let written = LastWriter(signed, at: command.authorizedAt)
            email = written.merged(with: email)
            if email?.value != valueBefore || unsignedEmail != nil {
                unsignedEmail = nil
                touchRow()
                return true
            }
            return false
        }
        guard visibleBefore == nil, let unsigned = command.unsignedEmail else { return false }
        unsignedEmail = unsigned
        touchRow()
        return true
    }

    private mutating func takeProfile(_ command: SignInCommand) -> Bool {
        var isChanged = profile.fill(from: command.profile)
        if let status = command.realUserStatus, status > realUserStatus ?? -1 {
            realUserStatus = status
            isChanged = true
        }
        if isChanged { touchRow() }
        return isChanged
    }

    /// Returns the time of the last sign-in to the app before.
    private mutating func takeCredential(_ command: SignInCommand) -> Moment? {
        let index = touchCredential(of: command.clientID)
        credentials[index].record.merge(Authorization(moment: command.authorizedAt, source: .signIn))
        let lastSignInAt = credentials[index].lastSignInAt
        credentials[index].lastSignInAt = max(lastSignInAt ?? command.receivedAt, command.receivedAt)
        credentials[index].takeRefreshToken(of: command)
        return lastSignInAt
    }
}

extension AppCredential {
    /// A held token stays held until the exchange of a newer code is over.
    fileprivate mutating func takeRefreshToken(of command: SignInCommand) {
        if refreshToken?.mayHaveAppleTokens == true { return }
        if command.authorizationCode != nil {
            refreshToken = .pending
        } else if let cause = command.refreshTokenCause {
            refreshToken = .unavailable(cause)
        }
    }
}
