import AppleAccounts
import AppleIDClient
import Configuration
import Cryptography
import Encodings
import HTTPAPI

extension SettingsReader {
    /// True for a setting that has a fingerprint of its whole value. Keys have their own fingerprints. A
    /// secret that may be chosen by a person, such as the password of the database or of a collector, has no
    /// fingerprint: the secret could be guessed from it. Addresses for listening have no fingerprint:
    /// replicas on one machine have different ports, and each start of a replica would look like a change.
    private static func isWritten(_ setting: Setting) -> Bool {
        let others = [Setting.apiKeyHashes, .host, .port].map(\.name)
        return !setting.isSecret && !others.contains(setting.name)
    }

    /// Returns the parts of the configuration that are set in
    /// the file or the environment, by name, each as its text.
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
    /// A fingerprint of each part of the configuration, by the
    /// name of the part. Fingerprints do not reveal values.
    var fingerprints: [String: String] {
        var fingerprints = writtenParts.mapValues(Self.fingerprint)
        for key in apiKeys { fingerprints["api_key \(key.name)"] = Self.fingerprint(of: key) }
        for key in sealingKeys?.keys ?? [] { fingerprints[Self.part(of: key)] = key.fingerprint }
        if let first = sealingKeys?.keys.first {
            // The name of the key, which is not secret. A fingerprint
            // would look like the fingerprint of another key.
            fingerprints["first sealing key"] = first.name
        }
        for (team, location) in signingKeys {
            // Apple gives each key its own ID. The settings reader has just read the keys.
            for key in (try? SigningKeyFiles.read(location)) ?? [] {
                fingerprints[Self.part(ofAppleKey: key.keyID)] = Self.fingerprint(
                    ofAppleKey: key.keyID, team: team.rawValue)
            }
        }
        return fingerprints
    }

    /// The fingerprint of an API key with its roles and apps.
    static func fingerprint(of key: APIKey) -> String {
        let apps =
            switch key.scope {
            case .all: "all"
            case .only(let clientIDs): clientIDs.map(\.rawValue).sorted().joined(separator: ",")
            }
        let roles = key.roles.map(\.rawValue).sorted().joined(separator: ",")
        return fingerprint("\(Hexadecimal.encode(key.hash)) \(roles) \(apps)")
    }

    /// Returns the name of a sealing key as a part.
    static func part(of key: SealingKey) -> String { "sealing_key \(key.name)" }

    /// Returns the name of a key for Apple as a part.
    static func part(ofAppleKey id: String) -> String { "apple_key \(id)" }

    static func fingerprint(ofAppleKey id: String, team: String) -> String { fingerprint("\(team) \(id)") }

    private static func fingerprint(_ text: String) -> String {
        String(Hexadecimal.encode(SHA256Digest.hash(text)).prefix(16))
    }
}
