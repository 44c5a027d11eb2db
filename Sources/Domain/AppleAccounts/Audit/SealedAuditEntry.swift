public import Cryptography

/// An entry as it is chained and stored.
///
/// The chain covers a digest in place of the person. The digest is of a random salt, the account, the token family
/// and the scope, which stand beside it. An erasure clears these four, and the digest leads to no one: the same
/// chain still verifies.
public struct SealedAuditEntry: Sendable, Hashable {
    public let facts: AuditFacts
    /// `nil` for a fact about no account.
    public let personDigest: SHA256Digest?
    /// `nil` without an account, and after its erasure.
    public let person: StoredPerson?

    public struct StoredPerson: Sendable, Hashable {
        /// Number of bytes of a salt. No two rows have the same.
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

    /// Returns the entry after the erasure of its user.
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

    /// The bytes that the hash of the row covers, the same in every version: each value with its presence, texts
    /// with their length, so that no two entries have the same bytes.
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

/// 0 for a missing value. 1, the length in four bytes and the bytes for a text or bytes; a number is eight bytes.
/// The most significant byte comes first.
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
