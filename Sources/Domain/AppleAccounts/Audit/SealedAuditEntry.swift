public import Cryptography
import Encodings

/// An entry of the audit log as it is chained and stored.
///
/// The chain covers a digest instead of the person. The digest covers a random salt, the account, the token
/// family and the scope, which are stored beside it. An erasure clears these four values, and the digest then
/// identifies no person: the same chain still verifies.
public struct SealedAuditEntry: Sendable, Hashable {
    public let facts: AuditFacts
    /// Digest of the person; `nil` for a fact without an account.
    public let personDigest: SHA256Digest?
    /// The person; `nil` without an account, and after its erasure.
    public let person: StoredPerson?

    public struct StoredPerson: Sendable, Hashable {
        /// Number of bytes of a salt. Each row has its own salt.
        public static let saltSize = 16

        public let account: AccountID
        public let tokenFamily: UniqueID?
        public let scope: String?
        public let salt: [UInt8]

        public init(account: AccountID, tokenFamily: UniqueID?, scope: String?, salt: [UInt8]) {
            (self.account, self.tokenFamily, self.scope, self.salt) = (account, tokenFamily, scope, salt)
        }

        public var digest: SHA256Digest {
            var bytes = CanonicalBytes()
            bytes.add(salt)
            bytes.add(account.rawValue)
            bytes.add(tokenFamily?.bytes)
            bytes.add(scope)
            return SHA256Digest.hash(bytes.bytes)
        }
    }

    public init(facts: AuditFacts, personDigest: SHA256Digest?, person: StoredPerson?) {
        (self.facts, self.personDigest, self.person) = (facts, personDigest, person)
    }

    /// The entry after the erasure of its user.
    public var withoutPerson: SealedAuditEntry {
        SealedAuditEntry(facts: facts, personDigest: personDigest, person: nil)
    }

    /// Seals an entry with a new salt.
    public init(_ entry: AuditEntry, using generator: inout some RandomNumberGenerator) {
        facts = entry.facts
        guard let known = entry.person else {
            (personDigest, person) = (nil, nil)
            return
        }
        let salt = (0..<StoredPerson.saltSize).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        let stored = StoredPerson(
            account: known.account, tokenFamily: known.tokenFamily, scope: known.scope, salt: salt)
        personDigest = stored.digest
        person = known.isErased ? nil : stored
    }

    /// The bytes that the hash of the row covers, the same in every version: each value with its presence,
    /// texts with their length, so that no two entries have the same bytes.
    public var canonicalBytes: [UInt8] {
        var bytes = CanonicalBytes()
        bytes.add("siwa-audit-1")
        bytes.add(facts.moment.milliseconds)
        bytes.add(facts.actor.kind.rawValue)
        bytes.add(facts.actor.name)
        bytes.add(facts.action.rawValue)
        bytes.add(facts.outcome.rawValue)
        bytes.add(facts.reason)
        bytes.add(facts.oauthClient?.rawValue)
        bytes.add(facts.requestID)
        bytes.add(facts.detail)
        bytes.add(personDigest?.bytes)
        return bytes.bytes
    }
}

/// Writer of canonical bytes: 0 for a missing value; 1, the length in four bytes and the bytes for a text or
/// bytes; eight bytes for a number. The most significant byte comes first.
private struct CanonicalBytes {
    private(set) var bytes: [UInt8] = []

    init() { bytes.reserveCapacity(256) }

    mutating func add(_ text: String?) { add(text.map { Array($0.utf8) }) }

    mutating func add(_ number: Int64) { withUnsafeBytes(of: number.bigEndian) { add(Array($0)) } }

    mutating func add(_ value: [UInt8]?) {
        guard let value else { return bytes.append(0) }
        bytes.append(1)
        withUnsafeBytes(of: UInt32(value.count).bigEndian) { bytes.append(contentsOf: $0) }
        bytes.append(contentsOf: value)
    }
}

/// A place in the chain of the audit log: the number of a row, and its hash.
public struct AuditLink: Sendable, Hashable {
    public let sequence: Int64
    public let hash: SHA256Digest

    public init(sequence: Int64, hash: SHA256Digest) { (self.sequence, self.hash) = (sequence, hash) }

    /// The place before the first row.
    public static let beginning = AuditLink(sequence: 0, hash: SHA256Digest.hash("siwa-audit-1"))

    /// Returns the link of the following row: SHA-256 over this hash, the number of the row in eight bytes,
    /// the most significant first, and the canonical bytes of the row.
    public func next(_ canonicalBytes: [UInt8]) -> AuditLink {
        let number = sequence + 1
        var bytes = hash.bytes
        withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
        return AuditLink(sequence: number, hash: SHA256Digest.hash(bytes + canonicalBytes))
    }

    /// The hash as 64 hexadecimal digits.
    public var hashText: String { Hexadecimal.encode(hash) }
}

/// The ends of the stored chain.
public struct AuditChain: Sendable, Hashable {
    /// The row before the oldest stored row.
    public let anchor: AuditLink
    /// The newest row. Equal to the anchor when there is no row.
    public let head: AuditLink

    public init(anchor: AuditLink, head: AuditLink) { (self.anchor, self.head) = (anchor, head) }

    public static let empty = AuditChain(anchor: .beginning, head: .beginning)
}

/// A stored row of the audit log.
public struct AuditRow: Sendable, Hashable {
    public let entry: SealedAuditEntry
    /// The number and the hash of the row, as stored.
    public let link: AuditLink

    public init(_ entry: SealedAuditEntry, link: AuditLink) { (self.entry, self.link) = (entry, link) }

    public var sequence: Int64 { link.sequence }
    public var facts: AuditFacts { entry.facts }
}

/// The deletion of rows past their time. The row before the oldest remaining row becomes the anchor of the
/// chain, and a new row records the purge, so that a verification detects old rows that were cut off by hand.
public enum AuditPurge {
    /// Largest number of rows that one step deletes, and that it reads to decide,
    /// so that audited changes do not wait for long.
    public static let largestStep = 1000
    /// Largest number of rows after these rows in which a step looks for the end of rows of the future.
    public static let farthestSearch = 100_000

    /// Returns the number of the oldest rows that a step deletes. They are a beginning of
    /// the chain, so that the rest stays connected: up to the last old row before the
    /// first row that is neither old nor of the future.
    ///
    /// - Parameters:
    ///   - oldest: The times of the oldest rows, `largestStep` at most.
    ///   - end: Rows recorded before this time are old.
    ///   - next: Returns the time of the first row after `oldest` that is old or not of the future, out of
    ///     `farthestSearch` rows. Called only when a full step ends with rows of the future.
    public static func step(
        _ oldest: [Moment], before end: Moment, at now: Moment, next: () throws -> Moment?
    ) rethrows -> Int {
        let oldOrFuture = oldest.prefix { $0 < end || $0 > now }
        let count = oldOrFuture.lastIndex { $0 < end }.map { $0 + 1 } ?? 0
        guard count < oldOrFuture.count, oldOrFuture.count == largestStep, let next = try next(), next < end
        else { return count }
        return oldOrFuture.count
    }

    static func detail(_ anchor: AuditLink) -> String { "up to row \(anchor.sequence), \(anchor.hashText)" }

    /// Returns the entry that records a purge.
    public static func entry(upTo anchor: AuditLink, at moment: Moment) -> AuditEntry {
        AuditEntry(.auditPurged, by: .service, at: moment, detail: detail(anchor))
    }
}
