import AppleAccounts
import AuthorizationServer
import Console
import Cryptography
import OAuth
import SignIn

/// The result of trying to decrypt a sample of the stored values with the configured sealing keys. `siwa
/// reseal --dry-run` tries all stored values.
struct SealedSample: Equatable {
    /// Maximum number of values in the sample.
    static let size = 200

    let count: Int
    /// Names of keys that sealed values in the sample but are not configured.
    private(set) var unknownKeys: Set<String> = []
    /// Number of values that a configured key with the right name cannot decrypt.
    private(set) var damaged = 0
    /// The number of values that cannot be decrypted, including token signing keys.
    private(set) var unreadable = 0
    /// The token signing keys that cannot be decrypted.
    private(set) var shutKeys: [ShutKey] = []
    /// Number of values in the sample, including token signing keys.
    private(set) var tried: Int

    init(_ rows: [SealedRow], keys: SealingKeyRing?) {
        (count, tried) = (rows.count, rows.count)
        for row in rows {
            guard let keys else {
                unreadable += 1
                unknownKeys.insert(SealingKeyRing.keyName(of: row.sealed.bytes) ?? "?")
                continue
            }
            do throws(SealError) {
                _ = try keys.open(
                    row.sealed.bytes, for: row.purpose.sealingPurpose,
                    associatedData: row.purpose.associatedData(of: row.accountID, clientID: row.clientID))
            } catch {
                unreadable += 1
                switch error.code {
                case .unknownKey: unknownKeys.insert(SealingKeyRing.keyName(of: row.sealed.bytes) ?? "?")
                case .malformed, .authenticationFailed: damaged += 1
                }
            }
        }
    }

    /// Adds the token signing keys to the sample. In addition, the service logs a key that it cannot decrypt
    /// whenever it needs that key.
    mutating func add(_ signingKeys: [SigningKeyRecord], keys: SealingKeyRing) {
        tried += signingKeys.count
        shutKeys = Self.shutKeys(among: signingKeys, keys: keys)
        unreadable += shutKeys.count
    }

    /// Returns the token signing keys that cannot be decrypted.
    static func shutKeys(among records: [SigningKeyRecord], keys: SealingKeyRing) -> [ShutKey] {
        let sealer = SigningKeySealer(keys: keys)
        return records.filter { (try? sealer.open($0)) == nil }.map {
            ShutKey(
                keyID: $0.keyID, algorithm: $0.algorithm,
                sealedBy: SealingKeyRing.keyName(of: $0.sealed.bytes) ?? "?")
        }
    }

    /// The warning that `siwa serve` logs at its start; `nil` if all values in the sample can be decrypted.
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
