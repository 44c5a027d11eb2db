public import AppleAccounts
public import Cryptography

/// The audit log: rows that are only appended, each chained to the row before it.
///
/// The four personal columns are covered by `person_digest` alone, so that an erasure clears them without
/// breaking the chain.
public struct AuditTable: Table {
    public static let name = "audit"

    public let sequence: Column<Int64>
    public let recordedAt: Column<Moment>
    public let actorKind: Column<AuditActor.Kind>
    public let actor: Column<String>
    public let action: Column<AuditAction>
    public let outcome: Column<AuditOutcome>
    public let reason: Column<String>
    public let oauthClient: Column<OAuthClientID>
    public let requestID: Column<String>
    public let detail: Column<String>
    public let personDigest: Column<SHA256Digest>
    public let accountID: Column<AccountID>
    public let tokenFamily: Column<UniqueID>
    public let scope: Column<String>
    public let salt: Column<[UInt8]>
    public let hash: Column<SHA256Digest>

    public init(_ columns: inout ColumnList) {
        sequence = columns("sequence", .operational, .required, .range(1...Int64.max))
        recordedAt = columns("recorded_at", .operational, .required)
        actorKind = columns("actor_kind", .operational, .required)
        actor = columns("actor", .operational, .optional, .length(1...AuditFacts.longestName))
        action = columns("action", .operational, .required)
        outcome = columns("outcome", .operational, .required)
        reason = columns("reason", .operational, .optional, .length(1...AuditFacts.longestName))
        oauthClient = columns("oauth_client", .operational, .optional)
        requestID = columns("request_id", .operational, .optional, .length(1...AuditFacts.longestName))
        detail = columns("detail", .operational, .optional, .length(1...AuditFacts.longestDetail))
        personDigest = columns("person_digest", .operational, .optional)
        accountID = columns("account_id", .personal, .optional)
        tokenFamily = columns("token_family", .personal, .optional)
        scope = columns("scope", .personal, .optional, .length(1...AuditFacts.longestDetail))
        let saltSize = SealedAuditEntry.StoredPerson.saltSize
        salt = columns("salt", .personal, .optional, .length(saltSize...saltSize))
        hash = columns("hash", .operational, .required)
    }
}

extension ColumnChoice where T == AuditTable {
    /// The columns that an entry fills; the store fills the others when it chains the entry.
    public static var entry: Self { except { [$0.sequence, $0.hash] } }
}

extension AuditTable {
    /// SQL text that clears the columns about the user.
    public static var clearing: String { sensitiveNames(except: .only { _ in [] }).cleared }

    /// Writes all columns except the number and the hash of the row.
    @inlinable public func write(_ entry: SealedAuditEntry, to row: some WritableRow) {
        row.set(recordedAt, entry.facts.moment)
        row.set(actorKind, entry.facts.actor.kind)
        row.set(actor, entry.facts.actor.name)
        row.set(action, entry.facts.action)
        row.set(outcome, entry.facts.outcome)
        row.set(reason, entry.facts.reason)
        row.set(oauthClient, entry.facts.oauthClient)
        row.set(requestID, entry.facts.requestID)
        row.set(detail, entry.facts.detail)
        row.set(personDigest, entry.personDigest)
        row.set(accountID, entry.person?.account)
        row.set(tokenFamily, entry.person?.tokenFamily)
        row.set(scope, entry.person?.scope)
        row.set(salt, entry.person?.salt)
    }

    /// Writes the number and the hash of the row.
    @inlinable public func write(_ link: AuditLink, to row: some WritableRow) {
        row.set(sequence, link.sequence)
        row.set(hash, link.hash)
    }

    @inlinable public func row(_ row: some ReadableRow) throws(StorageError) -> AuditRow {
        let facts = AuditFacts(
            moment: try row.required(recordedAt),
            actor: AuditActor(kind: try row.requiredCode(actorKind), name: row[actor]),
            action: try row.requiredCode(action), outcome: try row.requiredCode(outcome), reason: row[reason],
            oauthClient: row[oauthClient], requestID: row[requestID], detail: row[detail])
        var person: SealedAuditEntry.StoredPerson?
        if let account = row[accountID], let salt = row[salt] {
            person = SealedAuditEntry.StoredPerson(
                account: account, tokenFamily: row[tokenFamily], scope: row[scope], salt: salt)
        }
        return AuditRow(
            SealedAuditEntry(facts: facts, personDigest: row[personDigest], person: person),
            link: AuditLink(sequence: try row.required(sequence), hash: try row.required(hash)))
    }
}

/// The ends of the chain of the audit log: one row, which a transaction that appends to the log locks.
public struct AuditChainTable: Table {
    public static let name = "audit_chain"

    public let id: Column<Int64>
    public let lastSequence: Column<Int64>
    public let lastHash: Column<SHA256Digest>
    public let anchorSequence: Column<Int64>
    public let anchorHash: Column<SHA256Digest>

    public init(_ columns: inout ColumnList) {
        id = columns("id", .operational, .required, .range(1...1))
        lastSequence = columns("last_sequence", .operational, .required, .range(0...Int64.max))
        lastHash = columns("last_hash", .operational, .required)
        anchorSequence = columns("anchor_sequence", .operational, .required, .range(0...Int64.max))
        anchorHash = columns("anchor_hash", .operational, .required)
    }
}

extension AuditChainTable {
    @inlinable public func chain(_ row: some ReadableRow) throws(StorageError) -> AuditChain {
        AuditChain(
            anchor: AuditLink(sequence: try row.required(anchorSequence), hash: try row.required(anchorHash)),
            head: AuditLink(sequence: try row.required(lastSequence), hash: try row.required(lastHash)))
    }
}

/// Fingerprints of the configuration of the last start, by the names of its parts. No value can be read from them.
public struct ConfigurationFingerprintTable: Table {
    public static let name = "configuration_fingerprint"

    public let item: Column<String>
    public let fingerprint: Column<String>
    /// The start that first had this fingerprint. A part that was away for a start begins anew.
    public let firstSeenAt: Column<Moment>

    public init(_ columns: inout ColumnList) {
        item = columns("item", .operational, .required, .length(1...ConfigurationChange.longestItem))
        fingerprint = columns("fingerprint", .operational, .required, .length(1...64))
        firstSeenAt = columns("first_seen_at", .operational, .required)
    }
}

extension ConfigurationFingerprintTable {
    @inlinable public func part(_ row: some ReadableRow) throws(StorageError) -> SeenConfigurationPart {
        SeenConfigurationPart(
            item: try row.required(item), fingerprint: try row.required(fingerprint),
            firstSeenAt: try row.required(firstSeenAt))
    }
}
