public import Cryptography
import Encodings

/// An audit log entry in its stored form, which the hash chain covers.
///
/// The chain covers a digest instead of the person. The digest covers a random salt, the account, the token
/// family and the scope, which are stored next to it. An erasure clears these four values. The digest then
/// identifies no one, but the chain can still be verified.
public struct SealedAuditEntry: Sendable, Hashable {
    public let facts: AuditFacts
    /// Digest of the person; `nil` if the fact concerns no account.
    public let personDigest: SHA256Digest?
    /// The person; `nil` if there is no account, and after the person's erasure.
    public let person: StoredPerson?

    public struct StoredPerson: Sendable, Hashable {
        /// Size of a salt in bytes. Each row has its own salt.
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

    /// The entry as it is after its user's erasure.
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

    /// The bytes that the row hash covers, the same in every version. Each value is marked as present or
    /// missing, and each string is preceded by its length, so no two entries have the same bytes.
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

/// Writes canonical bytes: 0 for a missing value; 1, a four-byte length and the bytes for a string or byte
/// string; eight bytes for a number. The most significant byte comes first.
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

/// A position in the audit log chain: a row's number and hash.
public struct AuditLink: Sendable, Hashable {
    public let sequence: Int64
    public let hash: SHA256Digest

    public init(sequence: Int64, hash: SHA256Digest) { (self.sequence, self.hash) = (sequence, hash) }

    /// The position before the first row.
    public static let beginning = AuditLink(sequence: 0, hash: SHA256Digest.hash("siwa-audit-1"))

    /// Returns the link of the next row: SHA-256 over this hash, the row number as eight bytes (most
    /// significant first), and the row's canonical bytes.
    public func next(_ canonicalBytes: [UInt8]) -> AuditLink {
        let number = sequence + 1
        var bytes = hash.bytes
        withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
        return AuditLink(sequence: number, hash: SHA256Digest.hash(bytes + canonicalBytes))
    }

    /// The hash in 64 hexadecimal digits.
    public var hashText: String { Hexadecimal.encode(hash) }
}

/// The two ends of the stored chain.
public struct AuditChain: Sendable, Hashable {
    /// The row before the oldest stored row.
    public let anchor: AuditLink
    /// The newest row; equal to the anchor if there are no rows.
    public let head: AuditLink

    public init(anchor: AuditLink, head: AuditLink) { (self.anchor, self.head) = (anchor, head) }

    public static let empty = AuditChain(anchor: .beginning, head: .beginning)
}

/// A stored audit log row.
public struct AuditRow: Sendable, Hashable {
    public let entry: SealedAuditEntry
    /// The row's number and hash, as stored.
    public let link: AuditLink

    public init(_ entry: SealedAuditEntry, link: AuditLink) { (self.entry, self.link) = (entry, link) }

    public var sequence: Int64 { link.sequence }
    public var facts: AuditFacts { entry.facts }
}

/// Deletes rows past their retention time. The row before the oldest remaining row becomes the chain's
/// anchor, and a new row records the purge, so verification detects old rows that were deleted manually.
public enum AuditPurge {
    /// Maximum number of rows that a step reads and deletes. The limit keeps audited changes from waiting
    /// long.
    public static let largestStep = 1000
    /// Maximum number of further rows that a step searches for the end of a run of future-dated rows.
    public static let farthestSearch = 100_000

    /// Returns the number of oldest rows that a step deletes. They are always a prefix of the chain, so the
    /// remaining rows stay connected: the prefix ends with the last old row before the first row that is
    /// neither old nor future-dated.
    ///
    /// - Parameters:
    ///   - oldest: The times of the oldest rows, at most `largestStep` of them.
    ///   - end: Rows recorded before this time are old.
    ///   - next: Returns the time of the first row after `oldest` that is old or not future-dated, within
    ///     `farthestSearch` rows. Called only when a full step ends with future-dated rows.
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
