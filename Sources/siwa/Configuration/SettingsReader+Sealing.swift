import Cryptography
import Encodings

extension SettingsReader {
    /// Reads the keys that seal stored refresh tokens. Without a key, no refresh token is stored.
    mutating func sealingKeys() -> SealingKeyRing? {
        guard let entries = list(.sealingKeys) else { return nil }
        let setting = Setting.sealingKeys.name
        var keys: [SealingKey] = []
        for (index, entry) in entries.enumerated() {
            // A message refers to an entry by its number and never repeats it: without the name, the whole
            // entry is the secret.
            let which = entries.count == 1 ? "its key" : "key \(index + 1)"
            let halves = entry.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard halves.count == 2, let bytes = Base64.decode(String(halves[1])),
                bytes.count == SealingKey.size
            else {
                mistakes.add(
                    setting, "\(which) must be name=base64 of 32 bytes; siwa sealing-key creates one")
                continue
            }
            guard let key = SealingKey(name: String(halves[0]), bytes: bytes) else {
                mistakes.add(setting, "the name of \(which) must be 1 to 32 letters, digits, '_' or '-'")
                continue
            }
            if let fault = KnownSecrets.fault(of: key, isDevelopment: isDevelopment) {
                mistakes.add(
                    setting, "\(which) must be 32 random bytes, but \(fault); siwa sealing-key creates one")
            }
            if keys.contains(where: { $0.name == key.name }) {
                mistakes.add(
                    setting,
                    "\(which) has the same name as another key; make it anew with its own name: siwa sealing-key "
                        + "--name NAME")
            } else if keys.contains(where: { $0.hasSameBytes(as: key) }) {
                mistakes.add(setting, "\(which) is the same key as another one with a different name")
            }
            keys.append(key)
        }
        return SealingKeyRing(keys)
    }
}
