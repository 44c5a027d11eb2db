import AppleAccounts
import Cryptography
import SignIn

/// Whether stored values open with the sealing keys that are configured, tried on the first of them. All of them is what
/// `siwa reseal --dry-run` does.
struct SealedSample: Equatable {
    /// How many are tried.
    static let size = 200

    let count: Int
    /// The names of keys that have sealed some, and are not configured.
    private(set) var unknownKeys: Set<String> = []
    /// Values that do not open although a key of their key's name is there.
    private(set) var damaged = 0

    init(_ rows: [SealedRow], keys: SealingKeyRing?) {
        count = rows.count
        for row in rows {
            guard let keys else {
                unknownKeys.insert(SealingKeyRing.keyName(of: row.sealed.bytes) ?? "?")
                continue
            }
            do throws(SealError) {
                _ = try keys.open(
                    row.sealed.bytes, for: row.purpose.sealingPurpose,
                    associatedData: row.purpose.associatedData(of: row.accountID, clientID: row.clientID))
            } catch {
                switch error.code {
                case .unknownKey: unknownKeys.insert(SealingKeyRing.keyName(of: row.sealed.bytes) ?? "?")
                case .malformed, .authenticationFailed: damaged += 1
                }
            }
        }
    }

    /// What `siwa serve` warns of at its start; `nil` when all of the sample opens.
    var warning: String? {
        guard !unknownKeys.isEmpty || damaged > 0 else { return nil }
        var causes: [String] = []
        if !unknownKeys.isEmpty {
            causes.append("SIWA_SEALING_KEYS lacks \(unknownKeys.sorted().joined(separator: ", "))")
        }
        if damaged > 0 {
            causes.append("\(damaged) of \(count) were sealed by another key of the same name, or changed")
        }
        return
            "stored refresh tokens do not open: \(causes.joined(separator: "; ")). Put the right keys back; without "
            + "them their users have to sign in again"
    }
}
