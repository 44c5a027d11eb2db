import AppleAccounts

// IDs are random: two stores that do the same differ in them and in nothing else.

private let noID = UniqueID(high: 0, low: 0)

extension Account {
    var withoutIDs: Account {
        var account = self
        account.id = AccountID(noID)
        return account
    }
}

extension AccountEvent {
    var withoutIDs: AccountEvent {
        AccountEvent(
            sequence: sequence, id: EventID(noID), kind: kind, team: team, subject: subject,
            accountID: accountID.map { _ in AccountID(noID) }, clientID: clientID, reason: reason,
            source: source, grant: grant, moment: moment, recordedAt: recordedAt)
    }
}

extension ErasureRecord {
    var withoutIDs: ErasureRecord {
        ErasureRecord(
            id: id, accountID: AccountID(noID), team: team, requestedAt: requestedAt, deadline: deadline,
            finishedAt: finishedAt, apps: apps, tokens: tokens.map(\.withoutSecret))
    }
}

extension ErasureToken {
    /// The record without its secret, because the secrets of the samples name their accounts.
    fileprivate var withoutSecret: ErasureToken {
        var grant = self
        grant.sealed = nil
        return grant
    }
}

extension CommandResult {
    var withoutIDs: CommandResult {
        switch self {
        case .done(.signedIn(let outcome)):
            .done(
                .signedIn(
                    SignInOutcome(
                        account: outcome.account.withoutIDs, credential: outcome.credential,
                        isNewAccount: outcome.isNewAccount)))
        case .done(.erased(let record)): .done(.erased(record.withoutIDs))
        case .done(.changed(let account)): .done(.changed(account.withoutIDs))
        default: self
        }
    }
}
