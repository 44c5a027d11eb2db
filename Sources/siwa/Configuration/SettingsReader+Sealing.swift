import Cryptography
import Encodings

extension SettingsReader {
    /// The keys that seal what is stored. Without any, nothing is kept that would need one.
    mutating func sealingKeys() -> SealingKeyRing? {
        guard let entries = list(.sealingKeys) else { return nil }
        let setting = SettingName.sealingKeys.rawValue
        var keys: [SealingKey] = []
        for (index, entry) in entries.enumerated() {
            // A complaint counts the entries: each of them is a secret from its first character on when somebody forgot
            // the name.
            let which = entries.count == 1 ? "its key" : "key \(index + 1)"
            let halves = entry.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard halves.count == 2, let bytes = Base64.decode(String(halves[1])),
                bytes.count == SealingKey.size
            else {
                mistakes.add(
                    setting, "\(which) must be name=base64 of 32 bytes; siwa sealing-key makes one")
                continue
            }
            guard let key = SealingKey(name: String(halves[0]), bytes: bytes) else {
                mistakes.add(setting, "the name of \(which) must be 1 to 32 letters, digits, '_' or '-'")
                continue
            }
            if let fault = KnownSecrets.fault(of: key, isDevelopment: isDevelopment) {
                mistakes.add(
                    setting, "\(which) must be 32 random bytes, and \(fault); siwa sealing-key makes one")
            }
            if keys.contains(where: { $0.name == key.name }) {
                mistakes.add(setting, "\(which) has the name of another; a name must never change its key")
            } else if keys.contains(where: { $0.hasSameBytes(as: key) }) {
                mistakes.add(setting, "\(which) is the same as another under another name")
            }
            keys.append(key)
        }
        return SealingKeyRing(keys)
    }
}
