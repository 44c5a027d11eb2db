import AppAttestation
import AppleAccounts
import TestSupport

/// The whole state of the reference store.
struct ReferenceState {
    let sealing: any AppleTokenSealing
    var generator: SeededGenerator
    var subjects: [SubjectKey: SubjectRecord] = [:]
    var tombstones: [SubjectKey: SubjectRecord] = [:]
    var usedNonces: [NonceDigest: UsedNonce] = [:]
    var nonceKey: NonceKey?
    var inboxIdentifiers: Set<InboxIdentifier> = []
    var inboxKeys: Set<InboxKey> = []
    var inbox: [ReceivedNotification] = []
    var events: [AccountEvent] = []
    var codes: [AuthorizationCodeRecord] = []
    var tokens: [RefreshTokenRecord] = []
    var erasures: [ErasureRecord] = []
    var tickets: [Ticket] = []
    var transfers: [TransferRecord] = []
    var attestedKeys: [AttestedKeyID: AttestedKeyRecord] = [:]
    var oauth = ReferenceGrants()
    /// Counts of App Check by target and by the beginning of the hour.
    /// By hour, name and replica.
    var serviceHours: [Moment: [String: [String: Int64]]] = [:]
    var appCheckHours: [AppCheckTarget: [Int64: AppCheckTally]] = [:]

    var receivers: [ReceiverName: ClaimedReceiver] = [:]
    var audit: [AuditRow] = []
    var auditAnchor = AuditLink.beginning
    var fingerprints: [String: String] = [:]
    var fingerprintsSeenAt: [String: Moment] = [:]
    /// The oldest entry first.
    var histories: [AccountID: [HistoryEntry]] = [:]
    var payloads: [KeptPayload] = []
    var payloadSubjects: [AppleSubject] = []

    init(seed: UInt64, sealing: any AppleTokenSealing) {
        self.sealing = sealing
        generator = SeededGenerator(seed: seed)
    }

    func record(_ key: SubjectKey) -> SubjectRecord? {
        subjects[key] ?? tombstones[key]
    }

    func record(of id: AccountID) -> SubjectRecord? {
        subjects.values.first { $0.accountID == id }
    }

    func key(of id: AccountID) -> SubjectKey? {
        record(of: id)?.key
    }

    /// Returns true if a caller may see an event.
    func mayTell(_ event: AccountEvent, to scope: AppScope) -> Bool {
        guard scope != .all else { return true }
        if let clientID = event.clientID { return scope.allows(clientID) }
        let credentials = event.accountID.flatMap { record(of: $0) }?.credentials ?? []
        let erasure = erasures.first { $0.accountID == event.accountID }
        return scope.allowsAny(of: credentials.map(\.clientID) + (erasure?.apps.map(\.clientID) ?? []))
    }

    mutating func commit(_ commands: [AccountCommand]) -> [CommandResult] {
        var results = WorkingSet.groups(of: commands.filter({ isStorable($0) })).flatMap { group in
            var set = WorkingSet(group)
            load(&set)
            let results = set.applyCommands(using: &generator)
            save(set)
            return results
        }
        for (index, command) in commands.enumerated() where !isStorable(command) {
            results.insert(.failed(StorageError(.valueRefused, detail: "a value out of bounds")), at: index)
        }
        return results
    }

    /// Returns true if a database accepts the texts of a command, and its code can be sealed.
    private func isStorable(_ command: AccountCommand) -> Bool {
        switch command {
        case .signIn(let signIn): signIn.authorizationCode == nil || !(sealing is NoAppleTokenSealing)
        case .notification(let notification):
            (1...NotificationCommand.longestPayload).contains(notification.payload.unicodeScalars.count)
        case .finishExchange, .rejectRefreshToken, .erase, .transfer, .registerKey, .useProof, .disable,
            .enable,
            .signOut:
            true
        }
    }

    private func load(_ set: inout WorkingSet) {
        for (index, key) in set.subjectKeys.enumerated() {
            if let record = record(key) { set.load(record, at: index) }
        }
        for digest in set.nonceDigests {
            if usedNonces[digest] != nil { set.load(usedNonce: digest) }
        }
        for id in set.attestedKeyIDs { if let key = attestedKeys[id] { set.load(key) } }
        for app in set.countedApps {
            set.load(keyCount: Int64(attestedKeys.values.count { $0.appID == app }), of: app)
        }
        for identifier in set.inboxIdentifiers where inboxIdentifiers.contains(identifier) {
            set.load(inboxIdentifier: identifier)
        }
        for key in set.inboxKeys where inboxKeys.contains(key) { set.load(inboxKey: key) }
        for id in set.appleTokenAccounts {
            let held = HeldAppleTokens(
                codes: codes.filter { $0.accountID == id }, tokens: tokens.filter { $0.accountID == id })
            set.load(held, of: id)
        }
        if let (team, transferSubject) = set.transferQuestion {
            let found = transfers.first {
                $0.recipientTeam == team && $0.transferSubject == transferSubject
            }
            if let found { set.load(found) }
        }
        if let id = set.movingAccountID {
            set.load(moving: record(of: id), isErased: erasures.contains { $0.accountID == id })
        }
    }

    /// Saves only marked records, so that a missing mark makes a check fail.
    private mutating func save(_ set: WorkingSet) {
        if let rekeying = set.rekeying { carryOut(rekeying) }
        for change in set.appleTokenChanges { carryOut(change) }
        for erasure in set.erasures { carryOut(erasure, set.subjects[0]) }
        for record in set.subjects { save(record) }
        for nonce in set.usedNonces {
            let earlier = usedNonces.updateValue(nonce, forKey: nonce.digest)
            precondition(earlier == nil, "used twice")
        }
        for key in set.newAttestedKeys {
            let earlier = attestedKeys.updateValue(key, forKey: key.id)
            precondition(earlier == nil, "inserted twice")
        }
        for key in set.raisedAttestedKeys {
            let earlier = attestedKeys.updateValue(key, forKey: key.id)
            precondition(earlier.map { $0.counter < key.counter } ?? false, "a counter that does not rise")
        }
        for kept in set.keptNotifications {
            inboxIdentifiers.insert(kept.command.identifier)
            inbox.append(
                ReceivedNotification(
                    number: Int64(inbox.count + 1), identifier: kept.command.identifier,
                    clientID: kept.command.clientID, receipt: kept.receipt, payload: kept.payload,
                    receivedAt: kept.command.receivedAt))
            inboxKeys.formUnion(kept.newInboxKeys)
            for key in kept.newInboxKeys { keepPayload(of: key, kept) }
        }
        for entry in set.history {
            let entries = histories[entry.accountID, default: []] + [entry]
            histories[entry.accountID] = Array(entries.suffix(Int(HistoryEntry.mostPerAccount)))
        }
        for id in set.finishedTransfers { transfers.removeAll { $0.accountID == id } }
        let ended = endGrants(of: set)
        append(set.audit + ended.audit)
        events += ended.events
    }

    private mutating func save(_ record: SubjectRecord) {
        if record.isTombstone {
            if record.rowChange != .none { tombstones[record.key] = record.asLoaded }
            return
        }
        var saved = subjects[record.key] ?? SubjectRecord(key: record.key, isStored: true)
        if record.rowChange != .none {
            precondition((record.rowChange == .insert) == (subjects[record.key] == nil), "a wrong mark")
            saved.accountID = record.accountID
            saved.createdAt = record.createdAt
            saved.email = record.email
            saved.unsignedEmail = record.unsignedEmail
            saved.forwarding = record.forwarding
            saved.profile = record.profile
            saved.realUserStatus = record.realUserStatus
            saved.revocationOfAllApps = record.revocationOfAllApps
            saved.disabling = record.disabling
            saved.sessionsEndedAt = record.sessionsEndedAt
        }
        for credential in record.credentials where credential.rowChange != .none {
            precondition(
                saved.createdAt != nil || record.isStored || record.rowChange == .insert, "no row yet")
            saved.credentials.removeAll { $0.clientID == credential.clientID }
            saved.credentials.append(
                AppCredential(
                    clientID: credential.clientID, record: credential.record,
                    lastSignInAt: credential.lastSignInAt, refreshToken: credential.refreshToken))
            saved.credentials.sort { $0.clientID < $1.clientID }
            // The moment of the address travels with the credential.
            if let email = record.email, email.value == saved.email?.value { saved.email = email }
        }
        guard record.rowChange != .none || record.isStored else { return }
        subjects[record.key] = saved
    }

    private mutating func carryOut(_ change: AppleTokenChange) {
        switch change {
        case .insertCode(let code):
            guard !codes.contains(where: { $0.id == code.id }) else { break }
            guard let sealed = try? sealing.seal(code) else { preconditionFailure("refused before") }
            codes.append(sealed)
        case .removeCode(let id):
            codes.removeAll { $0.id == id }
        case .putToken(let token):
            tokens.removeAll { $0.accountID == token.accountID && $0.clientID == token.clientID }
            tokens.append(token)
        case .removeToken(let id, let clientID):
            tokens.removeAll { $0.accountID == id && $0.clientID == clientID }
        case .removeAll(let id):
            codes.removeAll { $0.accountID == id }
            tokens.removeAll { $0.accountID == id }
        }
    }

    private mutating func carryOut(_ rekeying: Rekeying) {
        let moved = subjects.removeValue(forKey: rekeying.from)
        precondition(moved != nil, "an account moved that was nowhere")
        // The record that is saved next has everything.
        subjects[rekeying.to] = SubjectRecord(key: rekeying.to, isStored: true)
        events = events.map { $0.key == rekeying.from ? $0.told(of: rekeying.to) : $0 }
        inboxKeys = inboxKeys.filter { $0.subject != rekeying.from.subject }
        forgetPayloads(about: rekeying.from.subject)
    }

    private mutating func carryOut(_ erasure: ErasureRecord, _ tombstone: SubjectRecord) {
        subjects[tombstone.key] = nil
        tombstones[tombstone.key] = tombstone.asLoaded
        inboxKeys = inboxKeys.filter { $0.subject != tombstone.key.subject }
        forgetPayloads(about: tombstone.key.subject)
        histories[erasure.accountID] = nil
        transfers.removeAll { $0.accountID == erasure.accountID }
        events = events.map { $0.key == tombstone.key ? $0.told(of: nil) : $0 }
        erasures.append(erasure)
        audit = audit.map { $0.entry.person?.account == erasure.accountID ? $0.withoutPerson : $0 }
    }
}

extension SubjectRecord {
    /// The tombstone as a store returns it at the next read.
    fileprivate var asLoaded: SubjectRecord {
        SubjectRecord(tombstoneOf: key, erasedAt: revocationOfAllApps?.moment ?? .last)
    }
}

extension AccountEvent {
    /// The event with another key of its user, or without a key.
    fileprivate func told(of key: SubjectKey?) -> AccountEvent {
        AccountEvent(
            sequence: sequence, id: id, kind: kind, team: key?.team ?? team, subject: key?.subject,
            accountID: accountID, clientID: clientID, reason: reason, source: source, grant: grant,
            moment: moment, recordedAt: recordedAt)
    }
}
