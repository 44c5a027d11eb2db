public import Cryptography
import Encodings

/// Walks the audit log chain from the oldest row, and stops at the first fault.
///
/// The verification detects rows that were changed, removed, inserted or reordered. It cannot detect a
/// rewrite of the whole chain, or the removal of its newest rows along with its head; to detect those, keep a
/// chain hash elsewhere and pass it as `expected`.
public struct AuditVerification: Sendable {
    public struct Fault: Error, Sendable, Equatable {
        public enum Code: String, Sendable, CaseIterable {
            /// The row with this number is missing.
            case missing
            /// The hash does not follow from the previous row, so this row was changed, inserted or moved.
            case changed
            /// The account stored with the row is not the account that the row was written for.
            case personChanged
            /// Rows are missing at the end, or were added outside the chain.
            case headDiffers
            /// The oldest rows are missing, and no row in the chain records their purge.
            case anchorUnproven
            /// No row has the expected hash.
            case expectedMissing
        }

        public let code: Code
        /// The number of the first affected row.
        public let sequence: Int64

        public init(_ code: Code, at sequence: Int64) { (self.code, self.sequence) = (code, sequence) }
    }

    private let chain: AuditChain
    private let expected: SHA256Digest?
    private var expectedSequence: Int64?
    private var isAnchorProven: Bool
    /// The last verified row.
    public private(set) var verified: AuditLink
    /// The number of rows whose person was removed by an erasure.
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
        // Rows can be rewritten during a long walk, so this compares with the head from before the walk.
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

    /// Checks the ends of the chain after its last row. Rows written during the walk are not a fault.
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

    /// Number of rows after the row with the expected hash; `nil` if no hash was expected.
    public var rowsSinceExpected: Int64? { expectedSequence.map { verified.sequence - $0 } }
}
