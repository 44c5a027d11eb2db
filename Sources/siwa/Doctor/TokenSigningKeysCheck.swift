import AppleAccounts
import AuthorizationServer
import Cryptography
import OAuth

/// Checks that the stored keys that sign the service's own tokens can be decrypted.
struct TokenSigningKeysCheck {
    static let name = "OAuth keys"

    let records: [SigningKeyRecord]
    let keys: SealingKeyRing

    var findings: [Finding] {
        let sealer = SigningKeySealer(keys: keys)
        var unknownKeys: Set<String> = []
        var damaged = 0
        for record in records {
            do {
                _ = try sealer.open(record)
            } catch let error as SealError where error.code == .unknownKey {
                unknownKeys.insert(SealingKeyRing.keyName(of: record.sealed.bytes) ?? "?")
            } catch {
                damaged += 1
            }
        }
        var findings: [Finding] = []
        if !unknownKeys.isEmpty {
            let names = unknownKeys.sorted().joined(separator: ", ")
            findings.append(
                .wrong(
                    Self.name, "keys that sign tokens are sealed by \(names), which is not configured",
                    advice: "Add that key to SIWA_SEALING_KEYS again. After siwa reseal you can remove it. "
                        + Self.consequence))
        }
        if damaged > 0 {
            findings.append(
                .wrong(
                    Self.name, "\(damaged) of \(records.count) keys that sign tokens cannot be decrypted",
                    advice: "They were sealed by another key with the same name, or they were changed. "
                        + "Configure the right key. " + Self.consequence))
        }
        guard findings.isEmpty else { return findings }
        return [
            records.isEmpty
                ? .note(Self.name, "none yet; siwa serve makes the keys that sign tokens")
                : .good(Self.name, "keys that sign tokens can be decrypted")
        ]
    }

    private static let consequence =
        "Until then siwa makes no new ones. If the sealing key is lost, run siwa reseal --retire-signing-keys: tokens "
        + "that they have signed end."
}
