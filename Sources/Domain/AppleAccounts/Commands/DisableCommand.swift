/// Disables an account. Repeating the command with other values replaces them.
public struct DisableCommand: Sendable, Hashable {
    public let key: SubjectKey
    public let accountID: AccountID
    public let reason: Disabling.Reason
    /// End of the disabled period; `Moment.last` if it has no end.
    public let until: Moment
    /// The caller's scope. It must allow every app for which the account has a credential.
    public let scope: AppScope
    /// Time of the request, by our clock.
    public let moment: Moment

    /// The origin, for the audit log.
    public let origin: AuditOrigin

    public init(
        key: SubjectKey, accountID: AccountID, reason: Disabling.Reason, until: Moment = .last,
        scope: AppScope, moment: Moment, origin: AuditOrigin = .current
    ) {
        self.key = key
        self.accountID = accountID
        self.reason = reason
        self.until = until
        self.scope = scope
        self.moment = moment
        self.origin = origin
    }
}

/// Enables an account again.
public struct EnableCommand: Sendable, Hashable {
    public let key: SubjectKey
    public let accountID: AccountID
    /// True to end the disabled period only if it has expired; false to end it in any case.
    public let onlyIfOver: Bool
    /// The caller's scope. It must allow every app for which the account has a credential.
    public let scope: AppScope
    /// Time of the request, by our clock.
    public let moment: Moment

    /// The origin, for the audit log.
    public let origin: AuditOrigin

    public init(
        key: SubjectKey, accountID: AccountID, onlyIfOver: Bool = false, scope: AppScope, moment: Moment,
        origin: AuditOrigin = .current
    ) {
        self.key = key
        self.accountID = accountID
        self.onlyIfOver = onlyIfOver
        self.scope = scope
        self.moment = moment
        self.origin = origin
    }
}

/// Signs a user out everywhere: browser sessions and OAuth client grants end, but not the consent at Apple.
public struct SignOutCommand: Sendable, Hashable {
    public let key: SubjectKey
    public let accountID: AccountID
    /// The OAuth clients whose grants stay.
    public let keptClients: Set<OAuthClientID>
    /// The caller's scope. It must allow every app for which the account has a credential.
    public let scope: AppScope
    /// Time of the request, by our clock.
    public let moment: Moment

    /// The origin, for the audit log.
    public let origin: AuditOrigin

    public init(
        key: SubjectKey, accountID: AccountID, keptClients: Set<OAuthClientID> = [], scope: AppScope,
        moment: Moment, origin: AuditOrigin = .current
    ) {
        self.key = key
        self.accountID = accountID
        self.keptClients = keptClients
        self.scope = scope
        self.moment = moment
        self.origin = origin
    }
}

extension WorkingSet {
    /// Disables an account. Adds an event only if the account was enabled until now; otherwise the new values
    /// replace the stored values, except the start time.
    mutating func apply(
        _ command: DisableCommand, using generator: inout some RandomNumberGenerator
    ) throws(AccountRefusal) -> Account {
        let position = try changeablePosition(
            of: command.key, command.accountID, in: command.scope, for: .accountDisabled, command.origin,
            at: command.moment)
        endDisabling(at: position, ifOverAt: command.moment, using: &generator)
        let known = subjects[position].disabling
        let disabling = Disabling(
            since: known?.since ?? command.moment, until: command.until, reason: command.reason)
        if disabling != known {
            subjects[position].disabling = disabling
            subjects[position].touchRow()
            audit.append(
                AuditEntry(
                    .accountDisabled, by: command.origin, at: command.moment,
                    reason: command.reason.rawValue,
                    detail: command.until == .last ? nil : "until \(command.until.rfc3339)",
                    person: AuditPerson(command.accountID)))
        }
        if known == nil {
            append(.accountDisabled, of: position, at: command.moment, by: command.moment, using: &generator)
        }
        return try account(at: position)
    }

    /// Enables an account. Does nothing if the account is not disabled.
    mutating func apply(
        _ command: EnableCommand, using generator: inout some RandomNumberGenerator
    ) throws(AccountRefusal) -> Account {
        let position = try changeablePosition(
            of: command.key, command.accountID, in: command.scope, for: .accountEnabled, command.origin,
            at: command.moment)
        endDisabling(at: position, ifOverAt: command.moment, using: &generator)
        if !command.onlyIfOver, subjects[position].disabling != nil {
            enable(
                position, at: command.moment, recordedAt: command.moment, by: command.origin,
                using: &generator)
        }
        return try account(at: position)
    }

    /// Signs a user out everywhere. Token events precede the event about the ended sessions.
    mutating func apply(
        _ command: SignOutCommand, using generator: inout some RandomNumberGenerator
    ) throws(AccountRefusal) -> Account {
        let position = try changeablePosition(
            of: command.key, command.accountID, in: command.scope, for: .accountSignedOut, command.origin,
            at: command.moment)
        let isNew = isNewSignOut(of: subjects[position], at: command.moment)
        // Replicas may have different clocks, so the later moment wins.
        let endedAt = subjects[position].sessionsEndedAt.map { max($0, command.moment) } ?? command.moment
        subjects[position].sessionsEndedAt = endedAt
        subjects[position].touchRow()
        credentialEnds.append(
            CredentialEnd(
                signingOut: command.accountID, key: command.key, keptClients: command.keptClients,
                moment: command.moment, eventIndex: events.count, origin: command.origin))
        if isNew {
            audit.append(
                AuditEntry(
                    .accountSignedOut, by: command.origin, at: command.moment,
                    person: AuditPerson(command.accountID)))
        }
        append(.sessionsEnded, of: position, at: command.moment, by: command.moment, using: &generator)
        return try account(at: position)
    }

    /// Returns false for a repeated sign-out that cannot have ended a session, because it came within an hour
    /// of the last sign-out and no sign-in happened in between. The audit log has a row for each grant that
    /// such a sign-out ends.
    private func isNewSignOut(of subject: SubjectRecord, at moment: Moment) -> Bool {
        guard let last = subject.sessionsEndedAt, moment < last.advanced(byMilliseconds: 3_600_000) else {
            return true
        }
        return subject.credentials.contains { credential in
            subject.record(for: credential.clientID).authorization.map { last < $0.moment } ?? false
        }
    }

    /// Ends a disabled period that has expired, and adds an event. If no command does this, the maintenance
    /// sweep does it later.
    mutating func endDisabling(
        at position: Int, ifOverAt moment: Moment, using generator: inout some RandomNumberGenerator
    ) {
        guard let disabling = subjects[position].disabling, !disabling.holds(at: moment) else { return }
        // The period expired on its own, so the actor is the service, not the command that notices the
        // expiry.
        enable(position, at: disabling.until, recordedAt: moment, by: .service, using: &generator)
    }

    private mutating func enable(
        _ position: Int, at moment: Moment, recordedAt: Moment, by origin: AuditOrigin,
        using generator: inout some RandomNumberGenerator
    ) {
        subjects[position].disabling = nil
        subjects[position].touchRow()
        audit.append(
            AuditEntry(
                .accountEnabled, by: origin, at: recordedAt,
                person: subjects[position].accountID.map { AuditPerson($0) }))
        append(.accountEnabled, of: position, at: moment, by: recordedAt, using: &generator)
    }

    /// Returns the position of an account's subject. The caller's apps are checked within the transaction,
    /// because the user may just have signed in to another app.
    private mutating func changeablePosition(
        of key: SubjectKey, _ id: AccountID, in scope: AppScope, for action: AuditAction,
        _ origin: AuditOrigin, at moment: Moment
    ) throws(AccountRefusal) -> Int {
        let position = position(of: key)
        let apps = subjects[position].credentials.lazy.map(\.clientID)
        guard subjects[position].accountID == id, scope.allowsAny(of: apps) else {
            throw AccountRefusal(.accountNotFound)
        }
        guard scope.allowsAll(apps) else {
            noteRefusal(action, of: id, by: origin, at: moment)
            throw AccountRefusal(.callerForbidden)
        }
        return position
    }

    /// Records a refused change by a caller who may not see all of the account's apps.
    mutating func noteRefusal(
        _ action: AuditAction, of id: AccountID, by origin: AuditOrigin, at moment: Moment
    ) {
        guard origin.notesRefusals else { return }
        audit.append(
            AuditEntry(
                action, by: origin, at: moment, outcome: .refused,
                reason: AccountRefusal.Code.callerForbidden.rawValue, person: AuditPerson(id)))
    }

    private func account(at position: Int) throws(AccountRefusal) -> Account {
        guard let account = subjects[position].account else { throw AccountRefusal(.accountNotFound) }
        return account
    }

    private mutating func append(
        _ kind: AccountEvent.Kind, of position: Int, at moment: Moment, by recordedAt: Moment,
        using generator: inout some RandomNumberGenerator
    ) {
        events.append(
            AccountEvent(
                id: EventID(UniqueID(at: recordedAt, using: &generator)), kind: kind,
                key: subjects[position].key, accountID: subjects[position].accountID, moment: moment,
                recordedAt: recordedAt))
    }
}
