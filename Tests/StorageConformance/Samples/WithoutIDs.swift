import AppleAccounts

// IDs are random: two stores that do the same differ in them and in nothing else.

private let noID = UniqueID(high: 0, low: 0)

extension Account {
    var withoutIDs: Account {
        Account(
            id: AccountID(noID), team: team, subject: subject, email: email, isEmailVerified: isEmailVerified,
            isPrivateEmail: isPrivateEmail, emailForwarding: emailForwarding, firstName: firstName,
            lastName: lastName, realUserStatus: realUserStatus, createdAt: createdAt,
            lastSignInAt: lastSignInAt, credentials: credentials)
    }
}

extension AccountEvent {
    var withoutIDs: AccountEvent {
        AccountEvent(
            sequence: sequence, id: EventID(noID), kind: kind, team: team, subject: subject,
            accountID: accountID.map { _ in AccountID(noID) }, clientID: clientID, reason: reason,
            source: source, moment: moment, recordedAt: recordedAt)
    }
}

extension CommandResult {
    var withoutIDs: CommandResult {
        guard case .done(.signedIn(let outcome)) = self else { return self }
        return .done(
            .signedIn(
                SignInOutcome(
                    account: outcome.account.withoutIDs, credential: outcome.credential,
                    isNewAccount: outcome.isNewAccount)))
    }
}
