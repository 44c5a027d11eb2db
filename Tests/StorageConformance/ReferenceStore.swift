public import AppleAccounts
import Synchronization

/// The store as simple as it can be: everything in memory, nothing clever. What the conformance suite says
/// holds for it, and other stores must do as it does.
public final class ReferenceStore: AccountStore {
    private struct State {
        var generator: SeededGenerator
        var subjects: [SubjectKey: SubjectRecord] = [:]
        var nonces: [NonceDigest: NonceRecord] = [:]
        var inboxIdentifiers: Set<InboxIdentifier> = []
        var inboxKeys: Set<InboxKey> = []
        var events: [AccountEvent] = []
    }

    private let state: Mutex<State>

    public init(seed: UInt64 = 1) {
        state = Mutex(State(generator: SeededGenerator(seed: seed)))
    }

    public func commit(_ commands: [AccountCommand]) async throws -> CommitResult {
        state.withLock { state in
            var set = WorkingSet(commands)
            for (index, key) in set.subjectKeys.enumerated() {
                if let record = state.subjects[key] { set.load(record, at: index) }
            }
            for digest in set.nonceDigests {
                if let nonce = state.nonces[digest] { set.load(nonce) }
            }
            for identifier in set.inboxIdentifiers where state.inboxIdentifiers.contains(identifier) {
                set.load(inboxIdentifier: identifier)
            }
            for key in set.inboxKeys where state.inboxKeys.contains(key) { set.load(inboxKey: key) }

            let results = set.apply(using: &state.generator)

            // Only what is marked is saved, so that a mark that is missing shows.
            for record in set.subjects { save(record, in: &state) }
            for nonce in set.mintedNonces { state.nonces[nonce.digest] = nonce }
            for digest in set.usedNonces {
                guard let nonce = state.nonces[digest] else { preconditionFailure("used but never minted") }
                state.nonces[digest] = NonceRecord(digest: digest, expiresAt: nonce.expiresAt, isUsed: true)
            }
            for kept in set.keptNotifications {
                state.inboxIdentifiers.insert(kept.command.identifier)
                state.inboxKeys.formUnion(kept.newInboxKeys)
            }
            state.events += set.events
            return CommitResult(
                results: results,
                lastEventSequence: set.events.isEmpty ? nil : Int64(state.events.count))
        }
    }

    private func save(_ record: SubjectRecord, in state: inout State) {
        var saved = state.subjects[record.key] ?? SubjectRecord(key: record.key, isStored: true)
        if record.rowChange != .none {
            precondition((record.rowChange == .insert) == (state.subjects[record.key] == nil), "a wrong mark")
            saved.accountID = record.accountID
            saved.createdAt = record.createdAt
            saved.email = record.email
            saved.unsignedEmail = record.unsignedEmail
            saved.forwarding = record.forwarding
            saved.firstName = record.firstName
            saved.lastName = record.lastName
            saved.realUserStatus = record.realUserStatus
            saved.revocationOfAllApps = record.revocationOfAllApps
        }
        for credential in record.credentials where credential.rowChange != .none {
            precondition(
                saved.createdAt != nil || record.isStored || record.rowChange == .insert, "no row yet")
            saved.credentials.removeAll { $0.clientID == credential.clientID }
            saved.credentials.append(
                AppCredential(
                    clientID: credential.clientID, record: credential.record,
                    lastSignInAt: credential.lastSignInAt))
            saved.credentials.sort { $0.clientID < $1.clientID }
            // The moment of the address travels with the credential.
            if let email = record.email, email.value == saved.email?.value { saved.email = email }
        }
        guard record.rowChange != .none || record.isStored else { return }
        state.subjects[record.key] = saved
    }

    public func account(_ id: AccountID) async throws -> Account? {
        state.withLock { $0.subjects.values.first { $0.accountID == id }?.account }
    }

    public func account(_ key: SubjectKey) async throws -> Account? {
        state.withLock { $0.subjects[key]?.account }
    }

    public func credentials(
        team: TeamID, clientID: ClientID, subjects: [AppleSubject]
    ) async throws -> [CredentialRecord] {
        state.withLock { state in
            subjects.map { subject in
                let key = SubjectKey(team: team, subject: subject)
                return state.subjects[key]?.record(for: clientID) ?? CredentialRecord()
            }
        }
    }

    public func events(
        after sequence: Int64, limit: Int, visibleTo visibility: EventVisibility
    ) async throws -> EventPage {
        state.withLock { state in
            let rest = state.events.enumerated().lazy
                .filter { Int64($0.offset) >= sequence && visibility.includes($0.element) }
            let page = rest.prefix(limit).map { offset, event in event.numbered(Int64(offset) + 1) }
            let hasMore = rest.dropFirst(limit).first { _ in true } != nil
            let end = max(Int64(state.events.count), sequence)
            return EventPage(
                events: Array(page), cursor: hasMore ? page.last?.sequence ?? end : end, hasMore: hasMore)
        }
    }

    public func purgeNonces(expiredBefore moment: Moment) async throws -> Int {
        state.withLock { state in
            let before = state.nonces.count
            state.nonces = state.nonces.filter { $0.value.expiresAt >= moment }
            return before - state.nonces.count
        }
    }

    public func checkHealth() async throws {}

    /// Everything that is remembered of a subject.
    public func record(_ key: SubjectKey) -> SubjectRecord? {
        state.withLock { $0.subjects[key] }
    }
}
