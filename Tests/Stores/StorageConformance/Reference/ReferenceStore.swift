public import AppleAccounts
public import AuthorizationServer
public import Cryptography
import Synchronization

/// The simplest possible store, in memory. It passes the conformance suite, and other stores must have the
/// same behaviour.
public final class ReferenceStore: AccountStore {
    let state: Mutex<ReferenceState>

    public init(seed: UInt64 = 1, sealing: any AppleTokenSealing = SampleSealing()) {
        state = Mutex(ReferenceState(seed: seed, sealing: sealing))
    }

    public func commit(_ commands: [AccountCommand]) async throws -> CommitResult {
        state.withLock { state in
            let before = state.events.count
            let results = state.commit(commands)
            let count = state.events.count
            return CommitResult(results: results, lastEventSequence: count > before ? Int64(count) : nil)
        }
    }

    public func account(_ id: AccountID) async throws -> Account? {
        state.withLock { $0.record(of: id)?.account }
    }

    public func account(_ key: SubjectKey) async throws -> Account? {
        state.withLock { $0.record(key)?.account }
    }

    public func credentials(
        team: TeamID, clientID: ClientID, subjects: [AppleSubject]
    ) async throws -> [Credential] {
        state.withLock { state in
            subjects.map { subject in
                let key = SubjectKey(team: team, subject: subject)
                return (state.record(key) ?? SubjectRecord(key: key)).credential(for: clientID)
            }
        }
    }

    public func events(
        after sequence: Int64, limit: Int, visibleTo scope: AppScope
    ) async throws -> EventPage {
        state.withLock { state in
            let rest = state.events.enumerated()
                .filter { Int64($0.offset) >= sequence && state.mayTell($0.element, to: scope) }
            let page = rest.prefix(limit).map { offset, event in event.numbered(Int64(offset) + 1) }
            let hasMore = rest.dropFirst(limit).first { _ in true } != nil
            let end = max(Int64(state.events.count), sequence)
            return EventPage(
                events: Array(page), cursor: hasMore ? page.last?.sequence ?? end : end, hasMore: hasMore)
        }
    }

    public func lastEventSequence() async throws -> Int64 {
        state.withLock { Int64($0.events.count) }
    }

    public func accountsDisabled(until moment: Moment, limit: Int) async throws -> [DisabledAccount] {
        state.withLock { state in
            let due = state.subjects.values.compactMap { record -> (until: Moment, DisabledAccount)? in
                guard let id = record.accountID, let disabling = record.disabling,
                    disabling.until <= moment
                else { return nil }
                return (disabling.until, DisabledAccount(accountID: id, key: record.key))
            }
            return due.sorted { $0.until < $1.until }.prefix(limit).map(\.1)
        }
    }

    public func checkHealth() async throws {}

    /// The stored record of a subject.
    public func record(_ key: SubjectKey) -> SubjectRecord? {
        state.withLock { $0.record(key) }
    }

    /// A held token.
    public func heldToken(_ id: UniqueID) -> RefreshTokenRecord? {
        state.withLock { $0.tokens.first { $0.id == id } }
    }
}

extension ReferenceStore: TransferStore {
    public func accounts(
        team: TeamID, clientID: ClientID, after: AccountID?, limit: Int
    ) async throws -> [TransferableAccount] {
        state.withLock { state in
            let all = state.subjects.values.compactMap { record -> TransferableAccount? in
                guard record.key.team == team, let id = record.accountID, let createdAt = record.createdAt,
                    record.credentials.contains(where: { $0.clientID == clientID })
                else { return nil }
                return TransferableAccount(
                    accountID: id, subject: record.key.subject, createdAt: createdAt)
            }
            let rest = all.filter { account in
                after.map { $0.uniqueID < account.accountID.uniqueID } ?? true
            }
            return Array(rest.sorted { $0.accountID.uniqueID < $1.accountID.uniqueID }.prefix(limit))
        }
    }

    public func importTransfers(_ transfers: [TransferRecord]) async throws {
        state.withLock { state in
            for transfer in transfers
            where !state.erasures.contains(where: { $0.accountID == transfer.accountID }) {
                state.transfers.removeAll {
                    $0.recipientTeam == transfer.recipientTeam
                        && $0.transferSubject == transfer.transferSubject
                }
                state.transfers.append(transfer)
            }
        }
    }

    public func purgeTransfers(expiredBefore moment: Moment) async throws -> Int {
        state.withLock { state in
            let before = state.transfers.count
            state.transfers.removeAll { $0.expiresAt < moment }
            return before - state.transfers.count
        }
    }
}

extension ReferenceStore: GrantInspectionStore, InboxStore {
    public func code(withDigest digest: SHA256Digest) async throws -> CodeRecord? {
        state.withLock { $0.oauth.codes[digest] }
    }

    public func device(withDigest digest: SHA256Digest) async throws -> DeviceAuthorization? {
        state.withLock { $0.oauth.devices[digest] }
    }

    public func clientUsage(lookingAt most: Int) async throws -> ClientUsage {
        state.withLock { state in
            var grants: [OAuthClientID: Int] = [:]
            var families: [OAuthClientID: Int] = [:]
            for grant in state.oauth.grants.values.prefix(most) {
                grants[grant.oauthClientID, default: 0] += 1
            }
            for family in state.oauth.families.values.prefix(most) {
                guard let grant = state.oauth.grants[family.grantID] else { continue }
                families[grant.oauthClientID, default: 0] += 1
            }
            return ClientUsage(grants: grants, families: families, lookedAt: most)
        }
    }

    public func googleEvents(
        before position: GoogleEventPosition?, limit: Int
    ) async throws -> [ReceivedGoogleEvent] {
        func isEarlier(_ event: GoogleEventPosition, than other: GoogleEventPosition) -> Bool {
            guard event.receivedAt == other.receivedAt else { return event.receivedAt < other.receivedAt }
            return event.jti.utf8.lexicographicallyPrecedes(other.jti.utf8)
        }
        return state.withLock { state in
            let events = state.oauth.googleEvents.values.map {
                ReceivedGoogleEvent(jti: $0.jti, payload: $0.payload, receivedAt: $0.receivedAt)
            }
            return Array(
                events.filter { isEarlier($0.position, than: position ?? .newest) }
                    .sorted { isEarlier($1.position, than: $0.position) }.prefix(limit))
        }
    }

    public func notifications(
        before number: Int64?, limit: Int, visibleTo scope: AppScope
    ) async throws -> InboxPage {
        state.withLock { state in
            let scan = scope == .all ? limit + 1 : max(limit + 1, InboxPage.longestScan)
            let rows = state.inbox.reversed().filter { row in number.map { row.number < $0 } ?? true }
            return InboxPage(Array(rows.prefix(scan)), scan: scan, limit: limit, visibleTo: scope)
        }
    }
}

extension ReferenceStore {
    public func erasure(_ id: ErasureID) async throws -> ErasureRecord? {
        state.withLock { $0.erasures.first { $0.id == id } }
    }

    public func erasure(of id: AccountID) async throws -> ErasureRecord? {
        state.withLock { $0.erasures.first { $0.accountID == id } }
    }

    public func claimErasureTokens(
        limit: Int, at moment: Moment, leaseUntil: Moment, of id: ErasureID?
    ) async throws -> [ClaimedErasureToken] {
        state.withLock { state in
            let due = state.erasures.filter { id == nil || $0.id == id }.flatMap(\.tokens)
                .filter { !$0.isDone && $0.nextAttemptAt <= moment }
                .sorted { ($0.nextAttemptAt, $0.id) < ($1.nextAttemptAt, $1.id) }
            return due.prefix(limit).compactMap { token in
                guard let (position, index) = state.place(of: token.id) else { return nil }
                state.erasures[position].tokens[index].attempts += 1
                state.erasures[position].tokens[index].nextAttemptAt = leaseUntil
                state.erasures[position].tokens[index].isClaimed = true
                let erasure = state.erasures[position]
                return ClaimedErasureToken(
                    erasureID: erasure.id, accountID: erasure.accountID, team: erasure.team,
                    deadline: erasure.deadline, token: erasure.tokens[index], isInterrupted: token.isClaimed)
            }
        }
    }

    public func save(_ token: ErasureToken, of id: ErasureID, at moment: Moment) async throws {
        if let cause = token.cause, !(1...ErasureToken.longestCause).contains(cause.unicodeScalars.count) {
            throw StorageError(.valueRefused, detail: "a cause out of bounds")
        }
        state.withLock { state in
            guard let (position, index) = state.place(of: token.id), state.erasures[position].id == id,
                !state.erasures[position].tokens[index].isDone
            else { return }
            var saved = token
            saved.isClaimed = false
            if saved.isDone { saved.sealed = nil }
            state.erasures[position].tokens[index] = saved
            if state.erasures[position].tokens.allSatisfy(\.isDone) {
                state.erasures[position].finishedAt = moment
            }
        }
    }

    public func earliestErasureDeadline() async throws -> Moment? {
        state.withLock { state in
            state.erasures.filter { $0.tokens.contains { !$0.isDone } }.map(\.deadline).min()
        }
    }

    public func adoptErasureToken(
        codeID: UniqueID, tokenID: UniqueID, sealed: SealedSecret, at moment: Moment
    ) async throws -> Bool {
        state.withLock { state in
            guard let (position, index) = state.place(of: codeID) else { return false }
            let code = state.erasures[position].tokens[index]
            guard code.step == .exchange else { return false }
            state.erasures[position].tokens[index] = ErasureToken(
                id: tokenID, clientID: code.clientID, primaryClientID: code.primaryClientID,
                kind: .refreshToken, step: .revoke, attempts: code.attempts, nextAttemptAt: moment,
                sealed: sealed)
            state.erasures[position].tokens.sort { $0.id < $1.id }
            return true
        }
    }
}

extension ReferenceState {
    fileprivate func place(of token: UniqueID) -> (erasure: Int, token: Int)? {
        for (position, erasure) in erasures.enumerated() {
            if let index = erasure.tokens.firstIndex(where: { $0.id == token }) { return (position, index) }
        }
        return nil
    }
}
