import AppleAccounts
import Cryptography
import Encodings
import HTTPAPI
import SignIn
import WebOrigins

extension SettingsReader {
    /// Reads the API keys of the environment, which are valid for all apps, and the API keys of the file.
    mutating func apiKeys(for deployment: Deployment?) -> [APIKey] {
        let setting = Setting.apiKeyHashes.name
        var entries: [(setting: String, key: SettingsFile.Key)] = []
        for part in list(.apiKeyHashes) ?? [] {
            let halves = part.split(separator: "=", maxSplits: 1).map(String.init)
            guard halves.count == 2 else {
                mistakes.add(
                    setting, "must be name=hash, comma-separated; siwa api-key prints a key and its hash")
                continue
            }
            entries.append((setting, SettingsFile.Key(name: halves[0], hash: halves[1])))
        }
        entries += (file?.sections.apiKeys ?? []).map { ("api_keys", $0) }

        var keys: [APIKey] = []
        for (setting, entry) in entries {
            guard isName(entry.name) else {
                mistakes.add(setting, "a key's name must be 1 to 64 letters, digits, '.', '_' or '-'")
                continue
            }
            guard !entry.hash.hasPrefix(APIKeySecret.prefix) else {
                mistakes.add(
                    setting,
                    "the hash of \(entry.name) is an API key itself, which belongs to the caller; put its hash here, "
                        + "which siwa api-key --name \(entry.name) prints beside a new key")
                continue
            }
            guard let bytes = Hexadecimal.decode(entry.hash.lowercased()), let hash = SHA256Digest(bytes)
            else {
                mistakes.add(
                    setting,
                    "the hash of \(entry.name) must be 64 hexadecimal digits; "
                        + "siwa api-key --name \(entry.name) creates a key and its hash")
                continue
            }
            if let fault = KnownSecrets.fault(ofHash: hash, name: entry.name, isDevelopment: isDevelopment) {
                mistakes.add(
                    setting,
                    "the hash of \(entry.name) must be that of a secret, but it \(fault), so the service would be open; "
                        + "siwa api-key --name \(entry.name) creates a key and its hash")
            }
            if keys.contains(where: { $0.name == entry.name }) {
                mistakes.add(setting, "has two keys named \(entry.name)")
            }
            if keys.contains(where: { $0.hash == hash }) {
                mistakes.add(setting, "\(entry.name) has the same hash as another key")
            }
            keys.append(APIKey(name: entry.name, hash: hash, scope: scope(of: entry, in: deployment)))
        }
        if entries.isEmpty, !isDevelopment {
            mistakes.add(
                setting, "is missing: without an API key the service would be open; siwa api-key creates one")
        }
        return keys
    }

    /// Refuses an address that other machines can reach, for a service that takes every caller.
    ///
    /// The check of `Host` protects only from web pages: another program can send any `Host`.
    mutating func refuseOtherMachines(at host: String) {
        let name = host.contains(":") ? "[\(host)]" : host
        // Without configured names, `AllowedHosts` allows only loopback names.
        guard isDevelopment, !AllowedHosts().allow(name) else { return }
        mistakes.add(
            Setting.host.name,
            "must be 127.0.0.1, ::1 or localhost where there is no API key, because every machine that reaches "
                + "the port could call the service; siwa api-key creates a key for SIWA_API_KEY_HASHES")
    }

    private mutating func scope(of key: SettingsFile.Key, in deployment: Deployment?) -> AppScope {
        guard let names = key.apps else { return .all }
        if names.isEmpty {
            mistakes.add("api_keys.apps", "of \(key.name) is empty; leave it out for all apps")
        }
        var primary: Set<ClientID> = []
        for name in names {
            if let app = ClientID(name).flatMap({ deployment?.app(for: $0) }) {
                primary.insert(app.primaryClientID)
            } else if deployment != nil {
                mistakes.add("api_keys.apps", "of \(key.name) names a client ID that no app has")
            }
        }
        return .only(primary)
    }

    private func isName(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count) && text.hasOnlyLettersDigits(and: ".-_")
    }
}
