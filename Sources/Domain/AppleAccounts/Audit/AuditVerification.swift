public import Cryptography
import Encodings

/// Walks the chain of the audit log, the oldest row first, and stops at the
/// first row that differs from the row as written.
///
/// It finds rows that were changed, removed, inserted or reordered. It cannot detect that the whole
/// chain was rewritten, or that its newest rows were cut off with its head: for this, keep a hash of
/// the chain elsewhere and pass it as `expected`.
public struct AuditVerification: Sendable {
    public struct Fault: Error, Sendable, Equatable {
        public enum Code: String, Sendable, CaseIterable {
            /// The row with this number is missing.
            case missing
            /// The row does not follow from the row before it: the row was changed, inserted or moved.
            case changed
            /// The account beside the row is not the account that the row was written with.
            case personChanged
            /// Rows are missing at the end, or were added without the chain.
            case headDiffers
            /// The oldest rows are missing, and no row of the chain records their purge.
            case anchorUnproven
            /// No row has the expected hash.
            case expectedMissing
        }

        public let code: Code
        /// The number of the first row concerned.
        public let sequence: Int64

        public init(_ code: Code, at sequence: Int64) { (self.code, self.sequence) = (code, sequence) }
    }

    private let chain: AuditChain
    private let expected: SHA256Digest?
    private var expectedSequence: Int64?
    private var isAnchorProven: Bool
    /// The last verified row.
    public private(set) var verified: AuditLink
    /// Number of rows whose person an erasure has dropped.
    public private(set) var anonymous = 0

    /// - Parameters:
    ///   - chain: The ends of the chain, read before the rows.
    ///   - expected: A hash of this chain from an earlier day.
    public init(_ chain: AuditChain, expected: SHA256Digest? = nil) {
        (self.chain, self.expected) = (chain, expected)
        verified = chain.anchor
        isAnchorProven = chain.anchor == .beginning
        if expected == chain.anchor.hash { expectedSequence = chain.anchor.sequence }
    }

    /// Checks the next row.
    public mutating func check(_ row: AuditRow) throws(Fault) {
        let number = verified.sequence + 1
        guard row.sequence >= number else { throw Fault(.changed, at: row.sequence) }
        guard row.sequence == number else { throw Fault(.missing, at: number) }
        guard verified.next(row.entry.canonicalBytes) == row.link else { throw Fault(.changed, at: number) }
        // During a long walk the unverified rows can be rewritten, but the head is known.
        guard number != chain.head.sequence || row.link == chain.head else {
            throw Fault(.headDiffers, at: number)
        }
        if let person = row.entry.person {
            guard person.digest == row.entry.personDigest else { throw Fault(.personChanged, at: number) }
        } else if row.entry.personDigest != nil {
            anonymous += 1
        }
        if row.facts.action == .auditPurged, row.facts.detail == AuditPurge.detail(chain.anchor) {
            isAnchorProven = true
        }
        verified = row.link
        if row.link.hash == expected { expectedSequence = number }
    }

    /// Checks the ends of the chain after its last row. Rows that
    /// were written during the walk are not a fault.
    public func finish() throws(Fault) {
        guard verified.sequence >= chain.head.sequence else {
            throw Fault(.headDiffers, at: verified.sequence + 1)
        }
        guard verified.sequence > chain.head.sequence || verified == chain.head else {
            throw Fault(.headDiffers, at: verified.sequence)
        }
        guard isAnchorProven else { throw Fault(.anchorUnproven, at: chain.anchor.sequence) }
        guard expected == nil || expectedSequence != nil else {
            throw Fault(.expectedMissing, at: verified.sequence)
        }
    }

    /// The number of the first row to verify.
    public var firstSequence: Int64 { chain.anchor.sequence + 1 }

    /// Number of rows after the row with the expected hash; `nil` without one.
    public var rowsSinceExpected: Int64? { expectedSequence.map { verified.sequence - $0 } }
}
