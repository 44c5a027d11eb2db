import AppleAccounts
import AppleIDClient
import Configuration
import Cryptography
import Encodings
import HTTPAPI

extension SettingsReader {
    /// Returns true if the setting's whole value has a fingerprint. Keys have their own fingerprints. A
    /// secret that a person may have chosen, such as a database or collector password, has no fingerprint,
    /// because an attacker could guess the secret from it. Listening addresses have no fingerprint either:
    /// replicas on one machine have different ports, so each replica start would look like a change.
    private static func isWritten(_ setting: Setting) -> Bool {
        let others = [Setting.apiKeyHashes, .host, .port].map(\.name)
        return !setting.isSecret && !others.contains(setting.name)
    }

    /// Returns the configuration parts that the file or the environment sets, as text by name.
    func writtenParts() -> [String: String] {
        var parts = file?.parts ?? [:]
        for setting in Setting.all where Self.isWritten(setting) {
            guard let text = config.string(forKey: setting.key) else { continue }
            parts["setting \(setting.name)"] = text
        }
        return parts
    }
}

extension ServiceSettings {
    /// Each configuration part's fingerprint, by name. A fingerprint does not reveal the value.
    var fingerprints: [String: String] {
        var fingerprints = writtenParts.mapValues(Self.fingerprint)
        for key in apiKeys { fingerprints["api_key \(key.name)"] = Self.fingerprint(of: key) }
        for key in sealingKeys?.keys ?? [] { fingerprints[Self.part(of: key)] = key.fingerprint }
        if let first = sealingKeys?.keys.first {
            // Uses the key's name, which is not secret, so that the entry is not mistaken for another key's
            // fingerprint.
            fingerprints["first sealing key"] = first.name
        }
        for (team, location) in signingKeys {
            // Apple assigns each key's ID. The settings reader has just read the keys, so reading them
            // again should not fail.
            for key in (try? SigningKeyFiles.read(location)) ?? [] {
                fingerprints[Self.part(ofAppleKey: key.keyID)] = Self.fingerprint(
                    ofAppleKey: key.keyID, team: team.rawValue)
            }
        }
        return fingerprints
    }

    /// Returns the fingerprint of an API key together with its roles and apps.
    static func fingerprint(of key: APIKey) -> String {
        let apps =
            switch key.scope {
            case .all: "all"
            case .only(let clientIDs): clientIDs.map(\.rawValue).sorted().joined(separator: ",")
            }
        let roles = key.roles.map(\.rawValue).sorted().joined(separator: ",")
        return fingerprint("\(Hexadecimal.encode(key.hash)) \(roles) \(apps)")
    }

    /// Returns the name of the configuration part for a sealing key.
    static func part(of key: SealingKey) -> String { "sealing_key \(key.name)" }

    /// Returns the name of the configuration part for an Apple signing key.
    static func part(ofAppleKey id: String) -> String { "apple_key \(id)" }

    static func fingerprint(ofAppleKey id: String, team: String) -> String { fingerprint("\(team) \(id)") }

    private static func fingerprint(_ text: String) -> String {
        String(Hexadecimal.encode(SHA256Digest.hash(text)).prefix(16))
    }
}
