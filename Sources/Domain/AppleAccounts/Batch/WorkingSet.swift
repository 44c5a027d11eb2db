import AppAttestation

/// A batch of commands, with all data that they need and the changes that they make.
///
/// A store creates a working set for each of `groups` and first loads the records for `subjectKeys`,
/// `nonceDigests`, `inboxIdentifiers`, `inboxKeys`, `attestedKeyIDs` and `countedApps`, in as few round trips
/// as it can. Then it loads the records for `appleTokenAccounts`, `transferQuestion` and `movingAccountID`,
/// calls `applyCommands`, and saves the records marked as changed. The working set does no I/O and knows
/// nothing about storage, so all stores produce the same results. Later commands in the batch see the changes
/// made by earlier commands.
public struct WorkingSet: Sendable {
    public let commands: [AccountCommand]
    /// The batch's subjects, without duplicates. Stores load each record at the same index of `subjects`.
    public let subjectKeys: [SubjectKey]
    public private(set) var nonceDigests: [NonceDigest] = []
    public private(set) var inboxIdentifiers: [InboxIdentifier] = []
    public private(set) var inboxKeys: [InboxKey] = []

    /// Records after `applyCommands`. The `rowChange` of each record and each credential determines which
    /// rows to write.
    public internal(set) var subjects: [SubjectRecord]
    /// Nonces to insert. If two transactions insert the same nonce, even on different replicas, only one of
    /// them may commit.
    public internal(set) var usedNonces: [UsedNonce] = []
    /// Notifications to store, with their new event keys.
    public internal(set) var keptNotifications: [KeptNotification] = []
    /// Account events to append, in order.
    public internal(set) var events: [AccountEvent] = []
    /// Audit log entries, in order. A known user's sign-in adds none.
    public internal(set) var audit: [AuditEntry] = []
    /// Entries to append to account histories, in order. A store keeps each account's last
    /// `HistoryEntry.mostPerAccount` entries.
    public internal(set) var history: [HistoryEntry] = []
    /// Changes to Apple codes and tokens, in order.
    public internal(set) var appleTokenChanges: [AppleTokenChange] = []
    /// Final credential ends. Stores end the dependent OAuth tokens in the same transaction. A known user's
    /// sign-in adds none.
    public internal(set) var credentialEnds: [CredentialEnd] = []
    /// The erasures, at most one. If there is an erasure, the working set has no other changes. The subject's
    /// row becomes a tombstone, replacing any older tombstone; its credentials are deleted, and the user is
    /// removed from earlier events and from the inbox.
    public internal(set) var erasures: [ErasureRecord] = []
    /// The subject's change to a new key. Stores apply it before they save the subjects, and delete the old
    /// key's notifications from the inbox.
    public internal(set) var rekeying: Rekeying?
    /// Accounts whose stored transfers are completed.
    public internal(set) var finishedTransfers: [AccountID] = []

    var namedKeyIDs: [AttestedKeyID] = []
    var registeringApps: [AppID] = []
    var attestedKeys: [AttestedKeyID: AttestedKeyRecord] = [:]
    var keyCounts: [AppID: Int64] = [:]
    var newKeyIDs: Set<AttestedKeyID> = []
    var raisedKeyIDs: Set<AttestedKeyID> = []
    private let subjectIndex: [SubjectKey: Int]
    var usedDigests: Set<NonceDigest> = []
    var knownInboxIdentifiers: Set<InboxIdentifier> = []
    var knownInboxKeys: Set<InboxKey> = []
    var tokens: [AccountID: HeldAppleTokens] = [:]
    let appleTokenPositions: Set<Int>
    var transfer: TransferRecord?
    var movingRecord: SubjectRecord?
    var isMovingAccountErased = false

    public init(_ commands: [AccountCommand]) {
        precondition(
            commands.count == 1 || !commands.contains(where: \.standsAlone),
            "expected one of the groups of a batch")
        self.commands = commands
        var keys: [SubjectKey] = []
        var index: [SubjectKey: Int] = [:]
        keys.reserveCapacity(commands.count)
        index.reserveCapacity(commands.count)
        var appleTokenPositions: Set<Int> = []
        func need(_ key: SubjectKey, withAppleTokens: Bool = false) {
            // Passing the subscript as `inout` hashes a new key only once.
            let position = Self.value(of: &index[key, default: keys.count])
            if position == keys.count { keys.append(key) }
            if withAppleTokens { appleTokenPositions.insert(position) }
        }
        for command in commands {
            switch command {
            case .signIn(let signIn):
                need(signIn.key)
                if let nonce = signIn.nonce { nonceDigests.append(nonce.digest) }
                if let proof = signIn.proof {
                    nonceDigests.append(proof.challenge.digest)
                    if let assertion = proof.assertion { namedKeyIDs.append(assertion.keyID) }
                }
            case .notification(let notification):
                inboxIdentifiers.append(notification.identifier)
                for event in notification.events {
                    if let inboxKey = InboxKey(event, of: notification) { inboxKeys.append(inboxKey) }
                    if let subject = event.subject {
                        need(
                            SubjectKey(team: notification.team, subject: subject),
                            withAppleTokens: event.isRevocation)
                    }
                }
            case .finishExchange(let exchange): need(exchange.key, withAppleTokens: true)
            case .rejectRefreshToken(let rejection): need(rejection.key, withAppleTokens: true)
            case .erase(let erase): need(erase.key, withAppleTokens: true)
            case .transfer(let transfer): need(transfer.to)
            case .registerKey(let registration):
                if let challenge = registration.challenge { nonceDigests.append(challenge.digest) }
                namedKeyIDs.append(registration.key.id)
                registeringApps.append(registration.key.appID)
            case .useProof(let use):
                nonceDigests.append(use.proof.challenge.digest)
                if let assertion = use.proof.assertion { namedKeyIDs.append(assertion.keyID) }
            case .disable(let disable): need(disable.key)
            case .enable(let enable): need(enable.key)
            case .signOut(let signOut): need(signOut.key)
            }
        }
        subjectKeys = keys
        self.appleTokenPositions = appleTokenPositions
        subjectIndex = index
        subjects = keys.map { SubjectRecord(key: $0) }
    }

    private static func value(of position: inout Int) -> Int { position }

    /// Loads the stored record for the subject at an index of `subjectKeys`.
    public mutating func load(_ record: SubjectRecord, at index: Int) {
        precondition(record.key == subjectKeys[index], "the record belongs to another subject")
        subjects[index] = record
    }

    /// Marks the nonce with this digest as used.
    public mutating func load(usedNonce digest: NonceDigest) {
        usedDigests.insert(digest)
    }

    /// Marks the notification with this identifier as already stored.
    public mutating func load(inboxIdentifier: InboxIdentifier) {
        knownInboxIdentifiers.insert(inboxIdentifier)
    }

    /// Marks the event with this key as already stored.
    public mutating func load(inboxKey: InboxKey) {
        knownInboxKeys.insert(inboxKey)
    }

    /// Applies all commands in their order.
    public mutating func applyCommands(
        using generator: inout some RandomNumberGenerator
    ) -> [CommandResult] {
        var results: [CommandResult] = []
        results.reserveCapacity(commands.count)
        for command in commands {
            do throws(AccountRefusal) {
                switch command {
                case .signIn(let signIn):
                    results.append(.done(.signedIn(try apply(signIn, using: &generator))))
                case .notification(let notification):
                    results.append(.done(.notification(apply(notification, using: &generator))))
                case .finishExchange(let exchange):
                    results.append(.done(.exchangeFinished(try apply(exchange))))
                case .rejectRefreshToken(let rejection):
                    results.append(.done(.refreshTokenRejected(try apply(rejection, using: &generator))))
                case .erase(let erase):
                    results.append(.done(.erased(try apply(erase, using: &generator))))
                case .transfer(let transfer):
                    results.append(.done(.transferred(try apply(transfer, using: &generator))))
                case .registerKey(let registration):
                    results.append(.done(.keyRegistered(try apply(registration))))
                case .useProof(let use):
                    try apply(use)
                    results.append(.done(.proofUsed))
                case .disable(let disable):
                    results.append(.done(.changed(try apply(disable, using: &generator))))
                case .enable(let enable):
                    results.append(.done(.changed(try apply(enable, using: &generator))))
                case .signOut(let signOut):
                    results.append(.done(.changed(try apply(signOut, using: &generator))))
                }
            } catch {
                results.append(.refused(error))
            }
        }
        return results
    }

    /// Returns the index in `subjects` of an account event's subject.
    public func position(of event: AccountEvent) -> Int {
        // An event without a subject comes from an erasure, which is alone in its group.
        event.key.map { position(of: $0) } ?? 0
    }

    /// Returns the index in `subjects` of a command's subject.
    public func position(of key: SubjectKey) -> Int {
        guard let position = subjectIndex[key] else {
            preconditionFailure("no command of the batch names this subject")
        }
        return position
    }
}

extension WorkingSet {
    /// Accounts whose codes and tokens the commands need. Read this property only after the subjects are
    /// loaded. Sign-ins never need any.
    public var appleTokenAccounts: [AccountID] {
        guard !appleTokenPositions.isEmpty else { return [] }
        return appleTokenPositions.sorted().compactMap { position in
            let subject = subjects[position]
            let mayHaveAppleTokens = subject.credentials.contains {
                $0.refreshToken?.mayHaveAppleTokens == true
            }
            return mayHaveAppleTokens ? subject.accountID : nil
        }
    }

    /// Loads all codes and tokens of an account in `appleTokenAccounts`.
    public mutating func load(_ held: HeldAppleTokens, of account: AccountID) {
        tokens[account] = held
    }

    /// Team and identifier of the transfer to look up; `nil` unless a token had an identifier and its user is
    /// unknown. Read this property only after the subjects are loaded.
    public var transferQuestion: (team: TeamID, transferSubject: AppleSubject)? {
        guard case .signIn(let signIn) = commands.first, let transferSubject = signIn.transferSubject,
            subjects[position(of: signIn.key)].accountID == nil
        else { return nil }
        return (signIn.key.team, transferSubject)
    }

    public mutating func load(_ transfer: TransferRecord) {
        self.transfer = transfer
    }

    /// ID of the account that may move. Look it up among both accounts and erased accounts. Read this
    /// property only after the transfer for `transferQuestion` is loaded.
    public var movingAccountID: AccountID? {
        if let transfer { return transfer.accountID }
        guard case .transfer(let command) = commands.first else { return nil }
        return command.accountID
    }

    /// Loads the account that may move.
    ///
    /// - Parameters:
    ///   - record: The account; `nil` when it does not exist.
    ///   - isErased: True if the account was erased.
    public mutating func load(moving record: SubjectRecord?, isErased: Bool) {
        movingRecord = record
        isMovingAccountErased = isErased
    }
}

extension WorkingSet {
    /// Divides a batch into working sets that are applied and saved one after another in the same
    /// transaction. There is nearly always only one working set.
    public static func groups(of commands: [AccountCommand]) -> [[AccountCommand]] {
        guard commands.contains(where: \.standsAlone) else { return [commands] }
        var groups: [[AccountCommand]] = []
        var shared: [AccountCommand] = []
        for command in commands {
            guard command.standsAlone else {
                shared.append(command)
                continue
            }
            if !shared.isEmpty { groups.append(shared) }
            groups.append([command])
            shared = []
        }
        return shared.isEmpty ? groups : groups + [shared]
    }
}
