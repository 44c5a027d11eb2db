import AppleAccounts
import AppleIDClient
import Configuration
import Cryptography
import Encodings
import HTTPAPI

extension SettingsReader {
    /// True for a setting that has a fingerprint of its whole value. The keys have one each. A secret that a person
    /// may have chosen has none, such as the password of the database or of a collector: it could be guessed from
    /// the fingerprint. The place at which a process listens has none: replicas on one machine have different
    /// ports, and each start of one would look like a change.
    private static func isWritten(_ setting: Setting) -> Bool {
        let others = [Setting.apiKeyHashes, .host, .port].map(\.name)
        return !setting.isSecret && !others.contains(setting.name)
    }

    /// The parts of the configuration that are written somewhere, by name, each as its text.
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
    /// A fingerprint of each part of the configuration, by the name of the part. Values cannot be read from them.
    var fingerprints: [String: String] {
        var fingerprints = writtenParts.mapValues(Self.fingerprint)
        for key in apiKeys { fingerprints["api_key \(key.name)"] = Self.fingerprint(of: key) }
        for key in sealingKeys?.keys ?? [] { fingerprints[Self.part(of: key)] = key.fingerprint }
        if let first = sealingKeys?.keys.first {
            // Its name, which is no secret: a fingerprint of it would look like that of one more key.
            fingerprints["first sealing key"] = first.name
        }
        for (team, location) in signingKeys {
            // Apple names each key by an ID of its own. They were readable a moment ago.
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

    /// The name of the part that a sealing key is.
    static func part(of key: SealingKey) -> String { "sealing_key \(key.name)" }

    /// The name of the part that a key for Apple is.
    static func part(ofAppleKey id: String) -> String { "apple_key \(id)" }

    static func fingerprint(ofAppleKey id: String, team: String) -> String { fingerprint("\(team) \(id)") }

    private static func fingerprint(_ text: String) -> String {
        String(Hexadecimal.encode(SHA256Digest.hash(text)).prefix(16))
    }
}
