extension WorkingSet {
    /// Gives an account the name that the receiving team has for its person.
    mutating func apply(
        _ command: TransferCommand, using generator: inout some RandomNumberGenerator
    ) throws(AccountRefusal) -> TransferReceipt {
        let target = subjects[position(of: command.to)]
        if target.accountID == command.accountID { return .alreadyDone }
        guard target.accountID == nil else { throw AccountRefusal(.accountExists) }
        guard !isMovingAccountErased else { throw AccountRefusal(.accountNotFound) }
        // The file comes from another team. An ID in it that belongs to another person here must not move
        // that person's account: an account moves only from the name that the file gives.
        if let movingRecord, let from = command.from, movingRecord.key != from {
            throw AccountRefusal(.accountExists)
        }
        let moved = target.takingOver(
            movingRecord, id: command.accountID, createdAt: command.createdAt,
            email: command.email.map { LastWriter($0, at: command.receivedAt) })
        let receipt: TransferReceipt = movingRecord == nil ? .made : .moved
        takeTransfer(
            moved, to: command.to, at: command.receivedAt, recordedAt: command.receivedAt, using: &generator)
        return receipt
    }

    /// What an unknown person's subject becomes by the transfer identifier in their token. `nil` when the
    /// token has none, or it names no account here, or the person is known, or the account is another
    /// person's of the same team, which no other team can have given away.
    func transferredRecord(for command: SignInCommand) throws(AccountRefusal) -> SubjectRecord? {
        // Nearly no sign-in has a transfer, so the subject is looked up last.
        guard let transfer, !isMovingAccountErased,
            transfer.transferSubject == command.transferSubject, command.receivedAt < transfer.expiresAt,
            movingRecord?.key.team != command.key.team
        else { return nil }
        let target = subjects[position(of: command.key)]
        guard target.accountID == nil else { return nil }
        return target.takingOver(
            movingRecord, id: transfer.accountID, createdAt: transfer.createdAt,
            email: command.email.map { LastWriter($0, at: command.authorizedAt) })
    }

    mutating func takeTransfer(
        _ moved: SubjectRecord, to key: SubjectKey, at moment: Moment, recordedAt: Moment,
        using generator: inout some RandomNumberGenerator
    ) {
        let position = position(of: key)
        guard let accountID = moved.accountID else { return }
        if let movingRecord {
            rekeying = Rekeying(
                from: movingRecord.key, to: key, leavesTombstone: subjects[position].isTombstone)
            grantChanges.append(.removeAll(accountID))
        }
        finishedTransfers.append(accountID)
        subjects[position] = moved
        events.append(
            AccountEvent(
                id: EventID(UniqueID(at: recordedAt, using: &generator)), kind: .accountTransferred, key: key,
                accountID: accountID, moment: moment, recordedAt: recordedAt))
        endGrants(of: moved, accountID, recordedAt: recordedAt)
    }

    /// Grants are kept under the account's ID and the app's primary client ID. A transfer changes neither, so
    /// they move along; but what Apple has told the receiving team of the person may have ended some.
    private mutating func endGrants(of moved: SubjectRecord, _ accountID: AccountID, recordedAt: Moment) {
        for credential in moved.credentials {
            guard let revocation = moved.record(for: credential.clientID).revocation,
                let reason = revocation.reason.grantEndReason
            else { continue }
            credentialEnds.append(
                CredentialEnd(
                    accountID: accountID, key: moved.key, clientID: credential.clientID,
                    moment: revocation.moment, reason: reason, source: revocation.source,
                    recordedAt: recordedAt, eventIndex: events.count))
        }
    }
}

/// An account that is found under another name from now on. Its row stays, and with it its events; a row that
/// the new name had, without account, goes into it.
public struct Rekeying: Sendable, Hashable {
    public let from: SubjectKey
    public let to: SubjectKey
    /// Whether the row of the new name is the tombstone of a person who was erased. It stays as it is.
    public let leavesTombstone: Bool
}
