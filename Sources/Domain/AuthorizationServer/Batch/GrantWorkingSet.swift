package import AppleAccounts
import Cryptography

/// A batch of grant commands, with the rows that they read and with their results.
///
/// A store finds the accounts for the keys in `question`, locks them, loads their subjects and all their
/// grants, calls `applyCommands`, and saves `changes`, `deviceChanges`, `changedPaces`, `newGoogleEvents`,
/// `changedGoogleAccounts`, `audit` and `events`. Each command's rule is in an extension. The rules do no
/// I/O, so all stores produce the same results. Later commands see the effects of earlier commands.
package struct GrantWorkingSet: Sendable {
    package let commands: [GrantCommand]
    package let question: GrantSelection
    /// Account events for the store to append, in this order.
    package private(set) var events: [AccountEvent] = []
    /// Audit log entries, in this order. A refresh adds none.
    package private(set) var audit: [AuditEntry] = []
    /// Google events for the store to insert.
    package private(set) var newGoogleEvents: [GoogleEventCommand] = []
    /// True if a rule may have needed a code that was not loaded. The results may then be wrong, so the store
    /// must apply the commands again to a set with all codes.
    package private(set) var isMissingCodes = false

    private var hasAllCodes = true
    /// The origin of the current command.
    private var origin = AuditOrigin.service
    var ledger = GrantLedger()
    var devices = DeviceLedger()
    private var users: [AccountID: SubjectRecord] = [:]
    private var erasedAccounts: Set<AccountID> = []
    private var knownGoogleEvents: Set<[UInt8]> = []
    private var googleAccounts: [[UInt8]: GoogleAccountRecord] = [:]
    private var changedGoogleSubjects: Set<[UInt8]> = []
    private var paces: [PaceKey: GrantPace] = [:]
    private var changedPaceKeys: Set<PaceKey> = []

    private struct PaceKey: Hashable {
        let accountID: AccountID
        let oauthClientID: OAuthClientID
    }

    package init(_ commands: [GrantCommand]) {
        self.commands = commands
        question = GrantSelection(commands)
    }

    /// Adds an account's record. The store keeps the account locked until the end of the transaction.
    package mutating func load(_ record: SubjectRecord) {
        guard let id = record.accountID else { return }
        users[id] = record
    }

    /// Marks an account as erased. The store calls this function for each ID of `question.accountIDs` without
    /// a row.
    package mutating func load(erased id: AccountID) { erasedAccounts.insert(id) }

    /// Adds all grants of the accounts, with all their token families and codes.
    ///
    /// - Parameter hasAllCodes: False if the store has loaded only the codes of `question`.
    package mutating func load(
        grants: [GrantRecord], families: [TokenFamily], codes: [CodeRecord], hasAllCodes: Bool = true
    ) {
        self.hasAllCodes = hasAllCodes
        ledger.load(grants: grants, families: families, codes: codes)
    }

    /// Marks the Google event with this `jti` as already stored.
    package mutating func load(googleEvent jti: String) { knownGoogleEvents.insert(Array(jti.utf8)) }

    /// Adds a pace. The store calls this function for every pace of the accounts that
    /// `question.accountsOfPaces` returns.
    package mutating func load(_ pace: GrantPace) {
        paces[PaceKey(accountID: pace.accountID, oauthClientID: pace.oauthClientID)] = pace
    }

    package mutating func load(_ account: GoogleAccountRecord) {
        googleAccounts[Array(account.subject.utf8)] = account
    }

    /// Adds a device authorization for `question.deviceDigests` or `question.userCodeDigests`. The store
    /// keeps the rows for `deviceDigests` locked until the end of the transaction.
    package mutating func load(_ device: DeviceAuthorization) { devices.load(device) }

    /// Sets the total number of stored device authorizations. The store calls this unless
    /// `question.newDevicesOf` is empty.
    package mutating func load(deviceCount total: Int) { devices.load(total: total) }

    /// Sets the number of stored device authorizations for a client of `question.newDevicesOf`.
    package mutating func load(deviceCount count: Int, of client: OAuthClientID) {
        devices.load(count, of: client)
    }

    /// The grant changes that the store must write. It must not read them if codes are missing.
    package var changes: GrantChanges {
        precondition(!isMissingCodes, "what was applied without all codes must not be saved")
        return ledger.changes
    }

    package var deviceChanges: DeviceChanges { devices.changes }

    package var changedPaces: [GrantPace] {
        changedPaceKeys.compactMap { paces[$0] }.sorted {
            ($0.accountID.uniqueID, $0.oauthClientID.rawValue)
                < ($1.accountID.uniqueID, $1.oauthClientID.rawValue)
        }
    }

    package var changedGoogleAccounts: [GoogleAccountRecord] {
        changedGoogleSubjects.compactMap { googleAccounts[$0] }
            .sorted { $0.subject.utf8.lexicographicallyPrecedes($1.subject.utf8) }
    }

    /// Applies all commands in batch order.
    package mutating func applyCommands(
        using generator: inout some RandomNumberGenerator
    ) -> [Result<GrantOutcome, any Error>] {
        var results: [Result<GrantOutcome, any Error>] = []
        results.reserveCapacity(commands.count)
        for command in commands {
            origin = command.auditOrigin
            do throws(GrantRefusal) {
                results.append(.success(try applyRule(of: command, using: &generator)))
            } catch {
                results.append(.failure(error))
            }
            // Refused commands are included, because the reuse of a token is refused but ends its family.
            audit += ledger.takeRemovals().map { $0.entry(by: origin) }
        }
        return results
    }

    private mutating func applyRule(
        of command: GrantCommand, using generator: inout some RandomNumberGenerator
    ) throws(GrantRefusal) -> GrantOutcome {
        switch command {
        case .authorize(let authorize): .authorized(try apply(authorize, using: &generator))
        case .redeem(let redeem): .issued(try apply(redeem, using: &generator))
        case .refresh(let refresh): .issued(try apply(refresh, using: &generator))
        case .revoke(let revoke): apply(revoke, using: &generator)
        case .end(let end): .ended(try apply(end, using: &generator))
        case .endAll(let end): .endedAll(apply(end, using: &generator))
        case .assertion(let assertion): .issued(try apply(assertion, using: &generator))
        case .exchange(let exchange): .issued(try apply(exchange, using: &generator))
        case .beginDevice(let begin): .deviceBegun(try apply(begin))
        case .decideDevice(let decide): .deviceDecided(try apply(decide, using: &generator))
        case .pollDevice(let poll): .issued(try apply(poll, using: &generator))
        case .learnGoogleSubject(let learning): .learned(try apply(learning))
        case .googleEvent(let event): .googleEvent(apply(event, using: &generator))
        }
    }
}

// State that the rules read, and changes that they make.
extension GrantWorkingSet {
    func user(_ id: AccountID) throws(GrantRefusal) -> (record: SubjectRecord, account: Account) {
        guard let record = users[id], let account = record.account else {
            throw GrantRefusal(erasedAccounts.contains(id) ? .accountErased : .accountNotFound)
        }
        return (record, account)
    }

    /// Returns the status of the grant's account, if it admits tokens that were authorized at `moment`.
    func status(
        _ grant: GrantRecord, authorizedAt moment: Moment, at now: Moment
    ) throws(GrantRefusal) -> AccountStatus {
        let status = try status(of: grant.accountID, app: grant.clientID, at: now)
        guard status.admits(authorizedAt: moment, at: now) else { throw GrantRefusal(.credentialRevoked) }
        return status
    }

    /// Returns the account's status, if the account is not disabled.
    func status(
        of id: AccountID, app: ClientID, at now: Moment
    ) throws(GrantRefusal) -> AccountStatus {
        let user = try user(id)
        let status = AccountStatus(account: user.account, credential: user.record.record(for: app))
        guard !status.isDisabled(at: now) else { throw GrantRefusal(.accountDisabled) }
        return status
    }

    /// Records the day on which the client used the grant, and returns the grant. The row changes only at the
    /// first use of each day.
    mutating func noteUse(of grant: GrantRecord, at moment: Moment) -> GrantRecord {
        let day = moment.startOfDay
        guard var grant = ledger.grant(grant.id)?.record, grant.lastUsedAt.map({ $0 < day }) ?? true else {
            return grant
        }
        grant.lastUsedAt = day
        ledger.put(grant)
        return grant
    }

    /// Adds an audit log entry for a grant.
    mutating func note(
        _ action: AuditAction, of grant: GrantRecord, family: UniqueID? = nil, scope: String,
        at moment: Moment
    ) {
        audit.append(
            AuditEntry(
                action, by: origin, at: moment, oauthClient: grant.oauthClientID,
                person: AuditPerson(grant.accountID, tokenFamily: family, scope: scope)))
    }

    /// Appends the event for a new grant.
    mutating func tell(
        of grant: GrantRecord, at moment: Moment, using generator: inout some RandomNumberGenerator
    ) {
        guard let key = users[grant.accountID]?.key else { return }
        events.append(
            AccountEvent(
                of: grant, reason: nil, team: key.team, subject: key.subject, moment: moment,
                recordedAt: moment, using: &generator))
    }

    private mutating func tell(
        of ended: EndedTokens, of grant: GrantRecord, reason: GrantEndReason,
        googleEvent: GoogleEventReference?, at moment: Moment,
        using generator: inout some RandomNumberGenerator
    ) {
        // An erased user has no grants.
        guard let key = users[grant.accountID]?.key else { return }
        events += ended.events { token, isOnlyToken in
            AccountEvent(
                of: grant, reason: reason, googleEvent: googleEvent, endedToken: token,
                isOnlyToken: isOnlyToken, team: key.team, subject: key.subject, moment: moment,
                recordedAt: moment, using: &generator)
        }
    }

    /// Counts an account's new grant to a client. Throws a refusal if the limit is reached.
    mutating func countNewGrant(
        of accountID: AccountID, to client: OAuthClientID, at moment: Moment
    ) throws(GrantRefusal) {
        var pace = pace(of: accountID, to: client, at: moment)
        guard pace.countGrant(at: moment) else { throw GrantRefusal(.tooManyGrants, endsAt: pace.endsAt) }
        put(pace)
    }

    /// Counts a new token family for an account and a client. Throws a refusal if the limit is reached.
    mutating func countNewFamily(
        of accountID: AccountID, to client: OAuthClientID, at moment: Moment
    ) throws(GrantRefusal) {
        var pace = pace(of: accountID, to: client, at: moment)
        guard pace.countFamily(at: moment) else { throw GrantRefusal(.tooManyFamilies, endsAt: pace.endsAt) }
        put(pace)
    }

    /// Throws a refusal if the limit on new token families is reached. Called by rules that make other
    /// changes before they begin the family.
    func checkFamilyPace(
        of accountID: AccountID, to client: OAuthClientID, at moment: Moment
    ) throws(GrantRefusal) {
        var pace = pace(of: accountID, to: client, at: moment)
        guard pace.countFamily(at: moment) else { throw GrantRefusal(.tooManyFamilies, endsAt: pace.endsAt) }
    }

    private func pace(of accountID: AccountID, to client: OAuthClientID, at moment: Moment) -> GrantPace {
        paces[PaceKey(accountID: accountID, oauthClientID: client)]
            ?? GrantPace(accountID: accountID, oauthClientID: client, begunAt: moment)
    }

    private mutating func put(_ pace: GrantPace) {
        let key = PaceKey(accountID: pace.accountID, oauthClientID: pace.oauthClientID)
        paces[key] = pace
        changedPaceKeys.insert(key)
    }

    /// Ends a grant with its token families and codes.
    mutating func end(
        _ grant: GrantRecord, reason: GrantEndReason, at moment: Moment,
        using generator: inout some RandomNumberGenerator
    ) {
        endFamilies(of: grant, reason: reason, endsGrant: true, at: moment, using: &generator) { _ in true }
    }

    /// Ends some of a grant's token families, and the grant if nothing left in it can yield tokens.
    ///
    /// - Parameter endsGrant: True to end the grant even if its remaining families or codes can yield tokens.
    mutating func endFamilies(
        of grant: GrantRecord, reason: GrantEndReason, googleEvent: GoogleEventReference? = nil,
        endsGrant: Bool = false, at moment: Moment, using generator: inout some RandomNumberGenerator,
        where isMeant: (TokenFamily) -> Bool
    ) {
        var tokens = ledger.removeFamilies(of: grant.id, reason: reason, at: moment, where: isMeant)
        let isOver = endsGrant || ledger.grant(grant.id).map { !$0.isAlive(at: moment) } ?? false
        if isOver {
            // A code that was not loaded may still be waiting for its redemption.
            if !endsGrant, !hasAllCodes { isMissingCodes = true }
            tokens += ledger.remove(grant.id, reason: reason, at: moment)
        }
        tell(
            of: EndedTokens(tokens, endsGrant: isOver), of: grant, reason: reason, googleEvent: googleEvent,
            at: moment, using: &generator)
    }

    /// Stores an event. Returns false if an event with this `jti` is already stored.
    mutating func keep(_ event: GoogleEventCommand) -> Bool {
        guard knownGoogleEvents.insert(Array(event.jti.utf8)).inserted else { return false }
        newGoogleEvents.append(event)
        return true
    }

    /// Returns true if a statement by Google about this Google account is stored.
    func hasStatement(about googleSubject: String) -> Bool {
        googleAccounts[Array(googleSubject.utf8)] != nil
    }

    func isDisabled(googleSubject: String) -> Bool {
        googleAccounts[Array(googleSubject.utf8)]?.isDisabled ?? false
    }

    /// Returns true if, according to Google's last statement, the Google account is disabled or was disabled
    /// at some time after `moment`. Google's times are whole seconds, so an account enabled in the same
    /// second counts as enabled earlier.
    func isDisabled(googleSubject: String, since moment: Moment) -> Bool {
        guard let account = googleAccounts[Array(googleSubject.utf8)] else { return false }
        return account.isDisabled || account.moment.milliseconds / 1000 > moment.milliseconds / 1000
    }

    /// Keeps the statement with the later time, regardless of the order of arrival.
    mutating func update(with said: GoogleAccountRecord) {
        let key = Array(said.subject.utf8)
        if let known = googleAccounts[key], !said.isLater(than: known) { return }
        googleAccounts[key] = said
        changedGoogleSubjects.insert(key)
    }
}
