public import AppleAccounts
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
