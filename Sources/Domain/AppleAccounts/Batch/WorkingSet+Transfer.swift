extension WorkingSet {
    /// Re-keys an account to the receiving team's subject of its user.
    mutating func apply(
        _ command: TransferCommand, using generator: inout some RandomNumberGenerator
    ) throws(AccountRefusal) -> TransferReceipt {
        let target = subjects[position(of: command.to)]
        if target.accountID == command.accountID { return .alreadyDone }
        guard target.accountID == nil else { throw AccountRefusal(.accountExists) }
        guard !isMovingAccountErased else { throw AccountRefusal(.accountNotFound) }
        // The file comes from another team. An ID in it that belongs to another user here must not move the
        // account of that user: an account moves only from the subject that the file gives.
        if let movingRecord, let from = command.from, movingRecord.key != from {
            throw AccountRefusal(.accountExists)
        }
        let moved = target.takingOver(
            movingRecord, id: command.accountID, createdAt: command.createdAt,
            email: command.email.map { LastWriter($0, at: command.receivedAt) })
        let receipt: TransferReceipt = movingRecord == nil ? .made : .moved
        takeTransfer(
            moved, to: command.to, at: command.receivedAt, recordedAt: command.receivedAt, by: command.origin,
            using: &generator)
        return receipt
    }

    /// Returns the record of an unknown user after the transfer that the token's identifier names. `nil` when
    /// no valid transfer has this identifier, when the account is erased, when the user is known, or when the
    /// account belongs to another user of the same team: no other team can have transferred such an account.
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
        by origin: AuditOrigin, using generator: inout some RandomNumberGenerator
    ) {
        let position = position(of: key)
        guard let accountID = moved.accountID else { return }
        if let movingRecord {
            rekeying = Rekeying(
                from: movingRecord.key, to: key, leavesTombstone: subjects[position].isTombstone)
            appleTokenChanges.append(.removeAll(accountID))
        }
        finishedTransfers.append(accountID)
        audit.append(
            AuditEntry(
                .accountTransferred, by: origin, at: recordedAt, detail: "to team \(key.team.rawValue)",
                person: AuditPerson(accountID)))
        subjects[position] = moved
        events.append(
            AccountEvent(
                id: EventID(UniqueID(at: recordedAt, using: &generator)), kind: .accountTransferred, key: key,
                accountID: accountID, moment: moment, recordedAt: recordedAt))
        endGrants(of: moved, accountID, recordedAt: recordedAt, by: origin)
    }

    /// Ends tokens that Apple's facts about the user at the receiving team have ended. Other tokens move
    /// along: they are keyed by the account's ID and the app's primary client ID, which a transfer does not
    /// change.
    private mutating func endGrants(
        of moved: SubjectRecord, _ accountID: AccountID, recordedAt: Moment, by origin: AuditOrigin
    ) {
        for credential in moved.credentials {
            guard let revocation = moved.record(for: credential.clientID).revocation,
                let reason = revocation.reason.grantEndReason
            else { continue }
            credentialEnds.append(
                CredentialEnd(
                    accountID: accountID, key: moved.key, clientID: credential.clientID,
                    moment: revocation.moment, reason: reason, source: revocation.source,
                    recordedAt: recordedAt, eventIndex: events.count, origin: origin))
        }
    }
}

/// A change of an account's subject key. The account's row stays, and with it its events; a row without
/// account that the new key had is merged into it.
public struct Rekeying: Sendable, Hashable {
    public let from: SubjectKey
    public let to: SubjectKey
    /// Indicates that the row of the new key is the tombstone of an erased user. It stays unchanged.
    public let leavesTombstone: Bool
}
