/// Transfers an account, once Apple has sent the receiving team the new `sub` of one of the transferred app's
/// users.
public struct TransferCommand: Sendable, Hashable {
    public let accountID: AccountID
    /// The user's key in the transferring team.
    public let from: SubjectKey?
    /// The user's key in the receiving team.
    public let to: SubjectKey
    /// The primary client ID of the transferred app.
    public let clientID: ClientID
    /// The new relay address, which changes with the team; `nil` if Apple sent none.
    public let email: EmailAddress?
    /// Creation time to use if the account is not in this database.
    public let createdAt: Moment
    /// Arrival time, by our clock.
    public let receivedAt: Moment

    /// The origin, for the audit log.
    public let origin: AuditOrigin

    public init(
        accountID: AccountID, from: SubjectKey?, to: SubjectKey, clientID: ClientID, email: EmailAddress?,
        createdAt: Moment, receivedAt: Moment, origin: AuditOrigin = .current
    ) {
        self.accountID = accountID
        self.from = from
        self.to = to
        self.clientID = clientID
        self.email = email
        self.createdAt = createdAt
        self.receivedAt = receivedAt
        self.origin = origin
    }
}

/// The result of a transfer.
public enum TransferReceipt: Sendable, Hashable {
    /// The account is now keyed by the user's `sub` in the receiving team.
    case moved
    /// The account was not in this database, so it was created.
    case made
    /// The transfer had already been applied.
    case alreadyDone
}

extension WorkingSet {
    /// Re-keys an account to its user's subject in the receiving team.
    mutating func apply(
        _ command: TransferCommand, using generator: inout some RandomNumberGenerator
    ) throws(AccountRefusal) -> TransferReceipt {
        let target = subjects[position(of: command.to)]
        if target.accountID == command.accountID { return .alreadyDone }
        guard target.accountID == nil else { throw AccountRefusal(.accountExists) }
        guard !isMovingAccountErased else { throw AccountRefusal(.accountNotFound) }
        // The file comes from another team, so an ID in it could be the ID of another user's account. An
        // account therefore moves only from the subject named in the file.
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

    /// Returns an unknown user's record after the transfer named by the token's transfer identifier. Returns
    /// `nil` if no valid transfer has this identifier, if the account is erased, if the user is known, or if
    /// the account belongs to another user of the same team: no other team can have transferred that account.
    func transferredRecord(for command: SignInCommand) throws(AccountRefusal) -> SubjectRecord? {
        // Few sign-ins have a transfer, so the subject is looked up last.
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

    /// Ends tokens that are no longer valid according to Apple's facts about the user in the receiving team.
    /// Other tokens move with the account, because they are keyed by the account ID and the app's primary
    /// client ID, which a transfer does not change.
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

/// Changes an account's subject key. The account keeps its row and its events; any row without an account
/// under the new key is merged into it.
public struct Rekeying: Sendable, Hashable {
    public let from: SubjectKey
    public let to: SubjectKey
    /// True if the new key's row is the tombstone of an erased user, which stays unchanged.
    public let leavesTombstone: Bool
}

extension SubjectRecord {
    /// Returns this subject, which has no account, with another subject's account.
    ///
    /// Facts that Apple has sent to the receiving team are kept. The transferring team's tokens are not valid
    /// for the receiving team, and its relay address no longer reaches the user.
    ///
    /// - Parameters:
    ///   - other: The subject that had the account; `nil` if the account is not in this database.
    ///   - email: The address in the receiving team.
    func takingOver(
        _ other: SubjectRecord?, id: AccountID, createdAt: Moment, email: LastWriter<EmailAddress>?
    ) -> SubjectRecord {
        var result = self
        result.leaveTombstone()
        result.accountID = id
        result.createdAt = other?.createdAt ?? createdAt
        result.email = email?.merged(with: self.email) ?? self.email
        if let other { result.take(other) }
        if result.email != nil { result.unsignedEmail = nil }
        guard other != nil else {
            result.touchRow()
            return result
        }
        // The other subject's row becomes this subject's row, and all credentials are written again.
        result.isStored = true
        result.rowChange = .update
        for index in result.credentials.indices { result.credentials[index].rowChange = .insert }
        return result
    }

    private mutating func take(_ other: SubjectRecord) {
        if email == nil, let known = other.email, known.value.isPrivate != true { email = known }
        unsignedEmail = other.unsignedEmail
        forwarding = forwarding ?? other.forwarding
        profile = other.profile
        realUserStatus = other.realUserStatus
        disabling = other.disabling
        sessionsEndedAt = other.sessionsEndedAt
        if let theirs = other.revocationOfAllApps {
            revocationOfAllApps = revocationOfAllApps.map { max($0, theirs) } ?? theirs
        }
        for theirs in other.credentials {
            let index = touchCredential(of: theirs.clientID)
            credentials[index].record.merge(theirs.record)
            credentials[index].lastSignInAt = theirs.lastSignInAt
            credentials[index].refreshToken = theirs.refreshToken
            if theirs.refreshToken?.mayHaveAppleTokens == true {
                credentials[index].refreshToken = .unavailable(.transferred)
            }
        }
    }
}
