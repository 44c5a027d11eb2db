public import AppleAccounts
public import Cryptography

/// The audit log: append-only rows, each chained to the previous row.
///
/// The chain covers the four personal columns only through `person_digest`, so that an erasure can clear them
/// without breaking the chain.
public typealias AuditTable = RecordTable<AuditRow>

extension AuditRow: StoredRecord {
    public static var table: String { "audit" }

    @inlinable @inline(__always)
    public static func record<C: ColumnCourse<Self>>(_ column: inout C) throws(C.Failure) -> Self {
        let sequence = try column("sequence", .operational, \.link.sequence, .range(1...Int64.max))
        let facts = AuditFacts(
            moment: try column("recorded_at", .operational, \.entry.facts.moment),
            actor: AuditActor(
                kind: try column.code("actor_kind", .operational, \.entry.facts.actor.kind),
                name: try column(
                    "actor", .operational, \.entry.facts.actor.name, .length(1...AuditFacts.longestName))),
            action: try column.code("action", .operational, \.entry.facts.action),
            outcome: try column.code("outcome", .operational, \.entry.facts.outcome),
            reason: try column(
                "reason", .operational, \.entry.facts.reason, .length(1...AuditFacts.longestName)),
            oauthClient: try column("oauth_client", .operational, \.entry.facts.oauthClient),
            requestID: try column(
                "request_id", .operational, \.entry.facts.requestID, .length(1...AuditFacts.longestName)),
            detail: try column(
                "detail", .operational, \.entry.facts.detail, .length(1...AuditFacts.longestDetail)))
        let digest = try column("person_digest", .operational, \.entry.personDigest)
        let account = try column.part("account_id", .personal) { $0.entry.person?.account }
        let family = try column.part("token_family", .personal) { $0.entry.person?.tokenFamily }
        let scope = try column.part("scope", .personal, .length(1...AuditFacts.longestDetail)) {
            $0.entry.person?.scope
        }
        let saltSize = SealedAuditEntry.StoredPerson.saltSize
        let salt = try column.part("salt", .personal, .length(saltSize...saltSize)) { $0.entry.person?.salt }
        var person: SealedAuditEntry.StoredPerson?
        if let account, let salt {
            person = .init(account: account, tokenFamily: family, scope: scope, salt: salt)
        }
        return AuditRow(
            SealedAuditEntry(facts: facts, personDigest: digest, person: person),
            link: AuditLink(sequence: sequence, hash: try column("hash", .operational, \.link.hash)))
    }
}

extension ColumnChoice where T == AuditTable {
    /// The columns that an entry fills. The store fills the other columns when it chains the entry.
    public static var entry: Self { except { [$0[\.link.sequence], $0[\.link.hash]] } }
}

extension AuditTable {
    /// SQL that clears the columns about the user.
    public static var clearing: String { sensitiveNames(except: .only { _ in [] }).cleared }
}

/// The ends of the audit log's chain, in a single row that a transaction locks when it appends to the log.
public typealias AuditChainTable = RecordTable<AuditChain>

extension AuditChain: StoredRecord {
    public static var table: String { "audit_chain" }

    @inlinable @inline(__always)
    public static func record<C: ColumnCourse<Self>>(_ column: inout C) throws(C.Failure) -> Self {
        column.other("id", .operational, Int64.self, .range(1...1))
        let head = AuditLink(
            sequence: try column("last_sequence", .operational, \.head.sequence, .range(0...Int64.max)),
            hash: try column("last_hash", .operational, \.head.hash))
        let anchor = AuditLink(
            sequence: try column("anchor_sequence", .operational, \.anchor.sequence, .range(0...Int64.max)),
            hash: try column("anchor_hash", .operational, \.anchor.hash))
        return AuditChain(anchor: anchor, head: head)
    }
}

/// The table of configuration parts' fingerprints at the last start, by name. They reveal no values.
public typealias ConfigurationFingerprintTable = RecordTable<SeenConfigurationPart>

extension SeenConfigurationPart: StoredRecord {
    public static var table: String { "configuration_fingerprint" }

    @inlinable @inline(__always)
    public static func record<C: ColumnCourse<Self>>(_ column: inout C) throws(C.Failure) -> Self {
        SeenConfigurationPart(
            item: try column(
                "item", .operational, \.item, .length(1...ConfigurationChange.longestItem)),
            fingerprint: try column("fingerprint", .operational, \.fingerprint, .length(1...64)),
            // Time of the first start with this fingerprint. A part that was missing at one start gets a new
            // time.
            firstSeenAt: try column("first_seen_at", .operational, \.firstSeenAt))
    }
}
