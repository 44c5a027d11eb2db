import AppleAccounts
import Cryptography

/// A grant with all of its token families and codes.
package struct HeldGrant: Sendable, Hashable {
    package var record: GrantRecord
    /// The oldest first.
    package var families: [TokenFamily]
    /// Codes, the oldest first. For batches of redemptions and refreshes, only redeemed codes may be loaded:
    /// their rules must set `GrantWorkingSet.isMissingCodes` when they need others.
    package var codes: [CodeRecord]

    package init(_ record: GrantRecord, families: [TokenFamily] = [], codes: [CodeRecord] = []) {
        self.record = record
        self.families = families.sorted { ($0.createdAt, $0.id) < ($1.createdAt, $1.id) }
        self.codes = codes.sorted { $0.issuedAt < $1.issuedAt }
    }

    func family(_ id: UniqueID) -> TokenFamily? { families.first { $0.id == id } }

    func code(_ digest: SHA256Digest) -> CodeRecord? { codes.first { $0.digest == digest } }

    /// Returns `true` if the grant can still yield tokens without the user: by a token family, or by a
    /// waiting code.
    func isAlive(at moment: Moment) -> Bool {
        families.contains { moment < $0.expiresAt }
            || codes.contains { $0.redemption == nil && moment < $0.expiresAt }
    }
}
