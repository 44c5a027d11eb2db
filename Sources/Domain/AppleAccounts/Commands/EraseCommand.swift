/// Erases an account.
public struct EraseCommand: Sendable, Hashable {
    public let key: SubjectKey
    public let accountID: AccountID
    public let erasureID: ErasureID
    /// Time of the request, by our clock.
    public let requestedAt: Moment
    /// The service sends no requests to Apple after this time.
    public let deadline: Moment
    /// The caller's scope. It must allow every app for which the account has a credential at the erasure.
    public let scope: AppScope

    /// The origin, for the audit log.
    public let origin: AuditOrigin

    public init(
        key: SubjectKey, accountID: AccountID, erasureID: ErasureID, requestedAt: Moment, deadline: Moment,
        scope: AppScope, origin: AuditOrigin = .current
    ) {
        self.key = key
        self.accountID = accountID
        self.erasureID = erasureID
        self.requestedAt = requestedAt
        self.deadline = deadline
        self.scope = scope
        self.origin = origin
    }
}

extension WorkingSet {
    /// Replaces all facts about a user with a tombstone and an erasure record.
    ///
    /// The transaction checks the user's apps, because the user may just have signed in to another app.
    mutating func apply(
        _ command: EraseCommand, using generator: inout some RandomNumberGenerator
    ) throws(AccountRefusal) -> ErasureRecord {
        let position = position(of: command.key)
        let subject = subjects[position]
        let apps = subject.credentials.lazy.map(\.clientID)
        guard subject.accountID == command.accountID, command.scope.allowsAny(of: apps) else {
            throw AccountRefusal(.accountNotFound)
        }
        guard command.scope.allowsAll(apps) else {
            noteRefusal(.accountErased, of: command.accountID, by: command.origin, at: command.requestedAt)
            throw AccountRefusal(.callerForbidden)
        }
        let erased = Revocation(
            moment: Self.tombstoneMoment(of: subject, requestedAt: command.requestedAt), reason: .erased,
            source: .erasure)
        for credential in subject.credentials {
            let record = subject.record(for: credential.clientID)
            guard record.state != .revoked, record.merged(with: erased).state == .revoked else { continue }
            append(.credentialRevoked, of: command, at: erased.moment, credential.clientID, using: &generator)
        }
        // The erasure is the account's last event, so the events about ended tokens precede it.
        credentialEnds.append(
            CredentialEnd(
                accountID: command.accountID, team: command.key.team, subject: nil, clientID: nil,
                moment: erased.moment, reason: .erased, source: .erasure, recordedAt: command.requestedAt,
                eventIndex: events.count, origin: command.origin))
        append(.accountErased, of: command, at: erased.moment, nil, using: &generator)

        let erasure = erasure(of: subject, by: command)
        erasures.append(erasure)
        // The audit log keeps the fact, but not the person.
        audit.append(
            AuditEntry(
                .accountErased, by: command.origin, at: command.requestedAt, detail: erasure.id.rawValue,
                person: AuditPerson(command.accountID, isErased: true)))
        appleTokenChanges.append(.removeAll(command.accountID))
        tokens[command.accountID] = nil
        subjects[position] = SubjectRecord(tombstoneOf: command.key, erasedAt: erased.moment)
        return erasure
    }

    /// Returns a moment that is not earlier than any of Apple's facts about the user. Apple's clock can be
    /// ahead of ours, and the token from the last sign-in must not restore the account.
    private static func tombstoneMoment(of subject: SubjectRecord, requestedAt: Moment) -> Moment {
        let revocations = subject.credentials.compactMap(\.record.revocation?.moment)
        let authorizations = subject.credentials.compactMap(\.record.authorization?.moment)
        let all = revocations + authorizations + [subject.revocationOfAllApps?.moment].compactMap { $0 }
        return all.reduce(requestedAt) { max($0, $1) }
    }

    private func erasure(of subject: SubjectRecord, by command: EraseCommand) -> ErasureRecord {
        let held = tokens[command.accountID] ?? HeldAppleTokens()
        let apps = subject.credentials.map { credential in
            let record = subject.record(for: credential.clientID)
            var cause: RefreshTokenCause?
            if case .unavailable(let known) = credential.refreshToken { cause = known }
            return ErasedApp(
                clientID: credential.clientID,
                hadToken: held.tokens.contains { $0.primaryClientID == credential.clientID },
                stateBefore: record.state, reasonBefore: record.reason, refreshTokenCause: cause)
        }
        let left =
            held.tokens.map { ErasureToken($0, at: command.requestedAt) }
            + held.codes.map { ErasureToken($0, at: command.requestedAt) }
        return ErasureRecord(
            id: command.erasureID, accountID: command.accountID, team: command.key.team,
            requestedAt: command.requestedAt, deadline: command.deadline,
            finishedAt: left.isEmpty ? command.requestedAt : nil, apps: apps,
            tokens: left.sorted { $0.id < $1.id })
    }

    private mutating func append(
        _ kind: AccountEvent.Kind, of command: EraseCommand, at moment: Moment, _ clientID: ClientID?,
        using generator: inout some RandomNumberGenerator
    ) {
        events.append(
            AccountEvent(
                id: EventID(UniqueID(at: command.requestedAt, using: &generator)), kind: kind,
                team: command.key.team, subject: nil, accountID: command.accountID, clientID: clientID,
                reason: .erased, source: .erasure, moment: moment, recordedAt: command.requestedAt))
    }
}
