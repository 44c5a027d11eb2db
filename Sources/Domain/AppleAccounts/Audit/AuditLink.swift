public import Cryptography
import Encodings

/// A place in the chain of the audit log: the number of a row, and its hash.
public struct AuditLink: Sendable, Hashable {
    public let sequence: Int64
    public let hash: SHA256Digest

    public init(sequence: Int64, hash: SHA256Digest) { (self.sequence, self.hash) = (sequence, hash) }

    /// The place before the first row.
    public static let beginning = AuditLink(sequence: 0, hash: SHA256Digest.hash("siwa-audit-1"))

    /// Returns the link of the row that follows: SHA-256 over this hash, the number of the row in eight bytes,
    /// the most significant first, and the canonical bytes of the row.
    public func next(_ canonicalBytes: [UInt8]) -> AuditLink {
        let number = sequence + 1
        var bytes = hash.bytes
        withUnsafeBytes(of: number.bigEndian) { bytes.append(contentsOf: $0) }
        return AuditLink(sequence: number, hash: SHA256Digest.hash(bytes + canonicalBytes))
    }

    /// 64 hexadecimal digits.
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
    /// Its number and its hash, as stored.
    public let link: AuditLink

    public init(_ entry: SealedAuditEntry, link: AuditLink) { (self.entry, self.link) = (entry, link) }

    public var sequence: Int64 { link.sequence }
    public var facts: AuditFacts { entry.facts }
}
