public import AppleAccounts
public import AuthorizationServer
public import Cryptography
import Synchronization

extension ReferenceStore: AuthorizationStore {
    public func commit(
        _ commands: [GrantCommand],
        completion: @escaping @Sendable (Result<GrantCommitResult, any Error>) -> Void
    ) {
        let result = state.withLock { state in
            let before = state.events.count
            let results = state.commit(commands)
            let count = state.events.count
            return GrantCommitResult(
                results: results, lastEventSequence: count > before ? Int64(count) : nil)
        }
        completion(.success(result))
    }

    public func status(ofFamily id: UniqueID) async throws -> TokenStatus? {
        state.withLock { state in
            guard let family = state.oauth.families[id], let grant = state.oauth.grants[family.grantID],
                let status = state.status(of: grant.accountID, app: grant.clientID)
            else { return nil }
            return TokenStatus(family: family, grant: grant, status: status)
        }
    }

    public func status(of account: AccountID, app: ClientID) async throws -> AccountStatus? {
        state.withLock { $0.status(of: account, app: app) }
    }

    public func grants(of account: AccountID) async throws -> [GrantRecord] {
        state.withLock { state in
            state.oauth.grants.values.filter { $0.accountID == account }
                .sorted { $0.id.uniqueID < $1.id.uniqueID }
        }
    }

    public func grant(of account: AccountID, for client: OAuthClientID) async throws -> GrantRecord? {
        state.withLock { state in
            state.oauth.grants.values.first { $0.accountID == account && $0.oauthClientID == client }
        }
    }

    public func device(withUserCode digest: SHA256Digest) async throws -> DeviceAuthorization? {
        state.withLock { $0.oauth.devices.values.first { $0.userCodeDigest == digest } }
    }

    public func account(
        linkedWith googleSubject: String, for client: OAuthClientID
    ) async throws -> AccountID? {
        state.withLock { state in
            let grants = state.oauth.grants
            let youngest = state.oauth.families.values
                .filter {
                    $0.googleSubject == googleSubject && !$0.isGoogleSubjectLearned
                        && grants[$0.grantID]?.oauthClientID == client
                }
                .max { ($0.createdAt, $0.id) < ($1.createdAt, $1.id) }
            return youngest.flatMap { grants[$0.grantID]?.accountID }
        }
    }

    public func account(
        withVerifiedEmail email: String, app: ClientID, team: TeamID
    ) async throws -> AccountID? {
        state.withLock { state in
            let found = state.subjects.values.filter { record in
                record.key.team == team && record.accountID != nil && record.email?.value.isVerified == true
                    && record.email?.value.isPrivate != true
                    && record.email?.value.address.asciiLowercased == email.asciiLowercased
            }
            guard found.count == 1, let only = found.first, !only.key.subject.isMadeByGoogle,
                only.credentials.contains(where: { $0.clientID == app })
            else { return nil }
            return only.accountID
        }
    }

    public func pace(of account: AccountID, for client: OAuthClientID) async throws -> GrantPace? {
        state.withLock { $0.oauth.paces[account]?[client] }
    }

    public func isDisabled(googleSubject: String) async throws -> Bool {
        state.withLock { $0.oauth.googleAccounts[googleSubject]?.isDisabled ?? false }
    }

    public func lastGoogleEvent() async throws -> Moment? {
        state.withLock { $0.oauth.googleEvents.values.map(\.receivedAt).max() }
    }

    public func googleVerification(_ state: String) async throws -> Moment? {
        self.state.withLock { reference in
            reference.oauth.googleEvents.values.filter { $0.verificationState == state }
                .map(\.receivedAt).max()
        }
    }

    public func purgeGrants(at moment: Moment) async throws -> Int {
        let oldestCode = moment.advanced(byMilliseconds: -CodeRecord.keptAfterExpiry)
        let oldestEvent = moment.advanced(byMilliseconds: -GoogleEventCommand.keptFor)
        return state.withLock { state in
            let before = state.oauth.count
            state.oauth.codes = state.oauth.codes.filter { $0.value.expiresAt >= oldestCode }
            state.oauth.families = state.oauth.families.filter { $0.value.expiresAt >= moment }
            let oldestDevice = moment.advanced(byMilliseconds: -DeviceAuthorization.keptAfterExpiry)
            state.oauth.devices = state.oauth.devices.filter { $0.value.expiresAt >= oldestDevice }
            let oldestPace = moment.advanced(byMilliseconds: -GrantPace.window)
            state.oauth.paces = state.oauth.paces.mapValues { $0.filter { $0.value.begunAt >= oldestPace } }
            state.oauth.googleEvents = state.oauth.googleEvents.filter { $0.value.receivedAt >= oldestEvent }
            state.oauth.googleAccounts = state.oauth.googleAccounts.filter {
                $0.value.isDisabled || $0.value.moment >= oldestEvent
            }
            return before - state.oauth.count + state.oauth.forgetSalts(at: moment)
        }
    }
}

extension ReferenceGrants {
    /// Returns the number of columns that a database would clear.
    fileprivate mutating func forgetSalts(at moment: Moment) -> Int {
        var count = 0
        for (id, family) in families {
            guard var token = family.refreshToken, let last = token.exchanged.first else { continue }
            if token.exchanged.count > 1,
                last.moment < moment.advanced(byMilliseconds: -RefreshTokenState.longestRetryWindow)
            {
                token.exchanged = [last]
                count += 1
            }
            if last.salt != nil,
                last.moment < moment.advanced(byMilliseconds: -RefreshTokenState.lostResponseTime)
            {
                token.exchanged[0].salt = nil
                count += 1
            }
            families[id]?.refreshToken = token
        }
        return count
    }

    fileprivate var count: Int {
        codes.count + families.count + devices.count + paces.values.map(\.count).reduce(0, +)
            + googleEvents.count
            + googleAccounts.count
    }
}

extension String {
    fileprivate var asciiLowercased: [UInt8] {
        utf8.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 + 32 : $0 }
    }
}

extension ReferenceStore: TicketStore {
    public func insertTicket(_ ticket: Ticket) async throws -> Bool {
        guard ticket.payload.count <= Ticket.longestPayload else {
            throw StorageError(.valueRefused, detail: "a long payload")
        }
        return state.withLock { state in
            let isNew = !state.tickets.contains {
                $0.digest == ticket.digest && $0.purpose == ticket.purpose
            }
            if isNew { state.tickets.append(ticket) }
            return isNew
        }
    }

    public func takeTicket(
        digest: TicketDigest, purpose: TicketPurpose, at moment: Moment
    ) async throws -> [UInt8]? {
        state.withLock { state in
            let index = state.tickets.firstIndex {
                $0.digest == digest && $0.purpose == purpose && moment < $0.expiresAt
            }
            return index.map { state.tickets.remove(at: $0).payload }
        }
    }

    public func hasTicket(
        digest: TicketDigest, purpose: TicketPurpose, at moment: Moment
    ) async throws -> Bool {
        state.withLock { state in
            state.tickets.contains {
                $0.digest == digest && $0.purpose == purpose && moment < $0.expiresAt
            }
        }
    }

    public func purgeTickets(expiredBefore moment: Moment) async throws -> Int {
        state.withLock { state in
            let before = state.tickets.count
            state.tickets.removeAll { $0.expiresAt < moment }
            return before - state.tickets.count
        }
    }
}

extension ReferenceStore {
    public func signingKeys() async throws -> [SigningKeyRecord] {
        state.withLock { $0.oauth.newestKeysFirst }
    }

    public func offerSigningKey(
        _ key: SigningKeyRecord, unlessMadeAfter moment: Moment
    ) async throws -> [SigningKeyRecord] {
        state.withLock { state in
            let isThere = state.oauth.signingKeys.contains {
                $0.keyID == key.keyID || $0.algorithm == key.algorithm && $0.createdAt >= moment
            }
            if !isThere {
                state.oauth.signingKeys.append(key)
                state.append([key.auditEntry])
            }
            return state.oauth.newestKeysFirst
        }
    }

    public func replaceSealed(_ key: SigningKeyRecord, with sealed: SealedSecret) async throws -> Bool {
        state.withLock { state in
            let index = state.oauth.signingKeys.firstIndex {
                $0.keyID == key.keyID && $0.sealed == key.sealed
            }
            guard let index else { return false }
            state.oauth.signingKeys[index].sealed = sealed
            return true
        }
    }

    public func removeSigningKey(
        _ key: SigningKeyRecord, by origin: AuditOrigin, at moment: Moment
    ) async throws -> Bool {
        state.withLock { state in
            let index = state.oauth.signingKeys.firstIndex {
                $0.keyID == key.keyID && $0.sealed == key.sealed
            }
            guard let index else { return false }
            state.oauth.signingKeys.remove(at: index)
            state.append([SigningKeyRecord.removalEntry(of: [key.keyID], by: origin, at: moment)])
            return true
        }
    }

    public func removeSigningKeys(retiredBefore moment: Moment) async throws -> Int {
        state.withLock { state in
            let retired = state.oauth.signingKeys.filter { $0.retiresAt < moment }
            guard !retired.isEmpty else { return 0 }
            state.oauth.signingKeys.removeAll { $0.retiresAt < moment }
            state.append([SigningKeyRecord.removalEntry(of: retired.map(\.keyID), at: moment)])
            return retired.count
        }
    }
}

extension ReferenceGrants {
    fileprivate var newestKeysFirst: [SigningKeyRecord] {
        signingKeys.sorted { ($0.createdAt, $0.keyID) > ($1.createdAt, $1.keyID) }
    }
}
