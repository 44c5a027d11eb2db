public import AppleAccounts
import Synchronization

extension ReferenceStore: AuditStore {
    public func appendAudit(_ entries: [AuditEntry]) async throws {
        state.withLock { state in
            state.append(
                entries.map { entry in
                    guard let person = entry.person, state.record(of: person.account) == nil else {
                        return entry
                    }
                    return entry.withoutPerson
                })
        }
    }

    public func auditChain() async throws -> AuditChain {
        state.withLock { AuditChain(anchor: $0.auditAnchor, head: $0.auditHead) }
    }

    public func auditRows(after sequence: Int64, limit: Int) async throws -> [AuditRow] {
        state.withLock { Array($0.audit.filter { $0.sequence > sequence }.prefix(limit)) }
    }

    public func auditRows(
        before sequence: Int64, of account: AccountID?, limit: Int
    ) async throws -> [AuditRow] {
        state.withLock { state in
            let rows = state.audit.reversed().filter {
                $0.sequence < sequence && (account == nil || $0.entry.person?.account == account)
            }
            return Array(rows.prefix(limit))
        }
    }

    public func auditSequence(at moment: Moment) async throws -> Int64 {
        state.withLock { state in
            state.audit.filter { $0.facts.moment <= moment }
                .max { ($0.facts.moment, $0.sequence) < ($1.facts.moment, $1.sequence) }?.sequence ?? 0
        }
    }

    public func purgeAudit(before end: Moment, at now: Moment) async throws -> Int {
        state.withLock { state in
            let oldOrFuture = state.audit.prefix { $0.facts.moment < end || $0.facts.moment > now }
            guard let last = oldOrFuture.lastIndex(where: { $0.facts.moment < end }) else { return 0 }
            let old = oldOrFuture[...last].prefix(AuditPurge.largestStep)
            guard let anchor = old.last?.link else { return 0 }
            state.audit.removeFirst(old.count)
            state.auditAnchor = anchor
            state.append([AuditPurge.entry(upTo: anchor, at: now)])
            return old.count
        }
    }

    public func noteConfiguration(
        _ fingerprints: [String: String], at moment: Moment
    ) async throws -> [ConfigurationChange] {
        state.withLock { state in
            let changes = ConfigurationChange.between(state.fingerprints, fingerprints)
            state.fingerprints = fingerprints
            for change in changes {
                state.fingerprintsSeenAt[change.item] = change.after == nil ? nil : moment
            }
            state.append(changes.map { $0.entry(at: moment) })
            return changes
        }
    }

    public func configurationParts() async throws -> [SeenConfigurationPart] {
        state.withLock { state in
            state.fingerprints.compactMap { item, fingerprint in
                state.fingerprintsSeenAt[item].map {
                    SeenConfigurationPart(item: item, fingerprint: fingerprint, firstSeenAt: $0)
                }
            }
        }
    }
}

extension ReferenceState {
    var auditHead: AuditLink { audit.last?.link ?? auditAnchor }

    mutating func append(_ entries: [AuditEntry]) {
        for entry in entries {
            let sealed = SealedAuditEntry(entry, using: &generator)
            audit.append(AuditRow(sealed, link: auditHead.next(sealed.canonicalBytes)))
        }
    }
}

extension AuditRow {
    /// The row after the erasure of its user.
    var withoutPerson: AuditRow {
        AuditRow(entry.withoutPerson, link: link)
    }
}
