import AppleAccounts
import Cryptography

/// A grant with everything that hangs on it.
package struct HeldGrant: Sendable, Hashable {
    package var record: GrantRecord
    /// The oldest first.
    package var lines: [TokenLine]
    /// The oldest first. With redemptions and refreshes only, it may have the redeemed ones alone: a rule of
    /// theirs that looks at others must set `GrantWorkingSet.isMissingCodes`.
    package var codes: [CodeRecord]

    package init(_ record: GrantRecord, lines: [TokenLine] = [], codes: [CodeRecord] = []) {
        self.record = record
        self.lines = lines.sorted { ($0.createdAt, $0.id) < ($1.createdAt, $1.id) }
        self.codes = codes.sorted { $0.issuedAt < $1.issuedAt }
    }

    func line(_ id: UniqueID) -> TokenLine? { lines.first { $0.id == id } }

    func code(_ digest: SHA256Digest) -> CodeRecord? { codes.first { $0.digest == digest } }

    /// Whether it can still give tokens without the person: by a line, or by a code that waits.
    func isAlive(at moment: Moment) -> Bool {
        lines.contains { moment < $0.expiresAt }
            || codes.contains { $0.redemption == nil && moment < $0.expiresAt }
    }
}
