import AppleAccounts
import AuthorizationServer
import Cryptography

/// The state of the reference store for OAuth 2.0.
struct ReferenceGrants {
    var grants: [GrantID: GrantRecord] = [:]
    var families: [UniqueID: TokenFamily] = [:]
    var codes: [SHA256Digest: CodeRecord] = [:]
    var devices: [SHA256Digest: DeviceAuthorization] = [:]
    var googleEvents: [String: GoogleEventCommand] = [:]
    var googleAccounts: [String: GoogleAccountRecord] = [:]
    var paces: [AccountID: [OAuthClientID: GrantPace]] = [:]
    var signingKeys: [SigningKeyRecord] = []

    /// The grants, token families and codes of some accounts.
    func held(_ accounts: Set<AccountID>) -> (
        grants: [GrantRecord], families: [TokenFamily], codes: [CodeRecord]
    ) {
        let grants = grants.values.filter { accounts.contains($0.accountID) }
        let ids = Set(grants.map(\.id))
        return (
            grants, families.values.filter { ids.contains($0.grantID) },
            codes.values.filter { ids.contains($0.grantID) }
        )
    }

    /// The accounts of a batch.
    func accounts(_ question: GrantSelection) -> Set<AccountID> {
        var ids = question.codeDigests.compactMap { codes[$0]?.grantID }
        ids += question.familyIDs.compactMap { families[$0]?.grantID }
        ids += families.values.filter { $0.googleSubject.map(question.googleSubjects.contains) ?? false }.map(
            \.grantID)
        let digests = Set(question.tokenDigests)
        ids += families.values.filter { $0.refreshToken?.doubleSHA512.map(digests.contains) ?? false }.map(
            \.grantID)
        return Set(question.accountIDs).union(ids.compactMap { grants[$0]?.accountID })
    }

    mutating func save(_ changes: GrantChanges) {
        for id in changes.removedGrants {
            grants[id] = nil
            families = families.filter { $0.value.grantID != id }
            codes = codes.filter { $0.value.grantID != id }
        }
        for id in changes.removedFamilies { families[id] = nil }
        for digest in changes.removedCodes { codes[digest] = nil }
        for grant in changes.grants {
            let isOnly = !grants.values.contains {
                $0.id != grant.id && $0.accountID == grant.accountID
                    && $0.oauthClientID == grant.oauthClientID
            }
            precondition(isOnly, "two grants of one account and client")
            grants[grant.id] = grant
        }
        for family in changes.families {
            precondition(grants[family.grantID] != nil, "a family without a grant")
            families[family.id] = family
        }
        for code in changes.codes {
            precondition(grants[code.grantID] != nil, "a code without a grant")
            codes[code.digest] = code
        }
    }

    mutating func save(_ changes: DeviceChanges) {
        for digest in changes.removed { devices[digest] = nil }
        for device in changes.devices {
            let isOnly = !devices.values.contains {
                $0.digest != device.digest && $0.userCodeDigest == device.userCodeDigest
            }
            precondition(isOnly, "two devices with one user code")
            devices[device.digest] = device
        }
    }

    /// Adds the devices of a batch, and their numbers.
    func load(into set: inout GrantWorkingSet) {
        for digest in set.question.deviceDigests { devices[digest].map { set.load($0) } }
        for device in devices.values where set.question.userCodeDigests.contains(device.userCodeDigest) {
            set.load(device)
        }
        set.load(deviceCount: devices.count)
        for client in set.question.newDevicesOf {
            set.load(deviceCount: devices.values.count { $0.oauthClientID == client }, of: client)
        }
    }

    mutating func forget(googleSubjects subjects: Set<String>) {
        for subject in subjects { googleAccounts[subject] = nil }
        googleEvents = googleEvents.mapValues { event in
            event.googleSubject.map(subjects.contains) ?? false ? event.withoutUser : event
        }
    }
}

extension ReferenceState {
    mutating func commit(_ commands: [GrantCommand]) -> [Result<GrantOutcome, any Error>] {
        var results = commitStorable(commands.filter(\.isStorable))
        for (index, command) in commands.enumerated() where !command.isStorable {
            results.insert(.failure(StorageError(.valueRefused, detail: "a value out of bounds")), at: index)
        }
        return results
    }

    private mutating func commitStorable(_ commands: [GrantCommand]) -> [Result<GrantOutcome, any Error>] {
        var set = GrantWorkingSet(commands)
        let accounts = oauth.accounts(set.question)
        for id in accounts { if let record = record(of: id) { set.load(record) } }
        for id in set.question.accountIDs where erasures.contains(where: { $0.accountID == id }) {
            set.load(erased: id)
        }
        let held = oauth.held(accounts)
        set.load(grants: held.grants, families: held.families, codes: held.codes)
        for id in set.question.accountsOfPaces(among: Array(accounts)) {
            oauth.paces[id]?.values.forEach { set.load($0) }
        }
        for jti in set.question.eventIdentifiers where oauth.googleEvents[jti] != nil {
            set.load(googleEvent: jti)
        }
        for subject in set.question.googleSubjects {
            if let account = oauth.googleAccounts[subject] { set.load(account) }
        }
        oauth.load(into: &set)
        let results = set.applyCommands(using: &generator)
        oauth.save(set.changes)
        oauth.save(set.deviceChanges)
        for pace in set.changedPaces { oauth.paces[pace.accountID, default: [:]][pace.oauthClientID] = pace }
        for event in set.newGoogleEvents { oauth.googleEvents[event.jti] = event }
        for account in set.changedGoogleAccounts { oauth.googleAccounts[account.subject] = account }
        append(set.audit)
        events += set.events
        return results
    }

    /// Ends the grants of credentials that a batch has ended. Returns the events of the batch, with the
    /// events of these grants, and the entries of the audit log about the grants.
    mutating func endGrants(of set: WorkingSet) -> (events: [AccountEvent], audit: [AuditEntry]) {
        guard var ending = GrantEnding(of: set) else { return (set.events, []) }
        let held = oauth.held(Set(ending.accountIDs))
        ending.load(grants: held.grants, families: held.families, codes: held.codes)
        let events = ending.carryOut(set.events, using: &generator)
        oauth.save(ending.changes)
        oauth.forget(googleSubjects: ending.forgottenGoogleSubjects)
        return (events, ending.audit)
    }

    func status(of account: AccountID, app: ClientID) -> AccountStatus? {
        guard let record = record(of: account), let account = record.account else { return nil }
        return AccountStatus(account: account, credential: record.record(for: app))
    }
}

extension GrantCommand {
    /// True if the values have lengths that a database accepts.
    fileprivate var isStorable: Bool {
        guard case .googleEvent(let event) = self else { return true }
        return event.payload.count <= GoogleEventCommand.longestPayload
    }
}

extension GoogleEventCommand {
    /// The command after the erasure of the user: only the `jti`, by which a repetition is recognized.
    fileprivate var withoutUser: GoogleEventCommand {
        GoogleEventCommand(
            jti: jti, payload: [], events: [], verificationState: verificationState, receivedAt: receivedAt)
    }
}
