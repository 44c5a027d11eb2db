import AppleAccounts
import Cryptography
import Encodings
import HTTPAPI
import SignIn

extension SettingsReader {
    /// Reads the API keys: the keys in the environment, which have access to all apps, and the keys in the
    /// file.
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
            guard let hash = keyHash(entry.hash, of: entry.name, in: setting) else { continue }
            if keys.contains(where: { $0.name == entry.name }) {
                mistakes.add(setting, "has two keys named \(entry.name)")
            }
            if keys.contains(where: { $0.hash == hash }) {
                mistakes.add(setting, "\(entry.name) has the same hash as another key")
            }
            keys.append(
                APIKey(
                    name: entry.name, hash: hash, scope: scope(of: entry, in: deployment),
                    roles: roles(of: entry)))
        }
        if entries.isEmpty, !isDevelopment {
            mistakes.add(
                setting, "is missing: without an API key the service would be open; siwa api-key creates one")
        }
        return keys
    }

    /// Reads the metrics key. It must differ from all API keys, because otherwise it would give access to all
    /// calls.
    mutating func metricsKey(beside apiKeys: [APIKey]) -> SHA256Digest? {
        let (setting, name) = (Setting.metricsKeyHash.name, CallerDirectory.metricsName)
        guard let text = text(.metricsKeyHash), let hash = keyHash(text, of: name, in: setting) else {
            return nil
        }
        if let other = apiKeys.first(where: { $0.hash == hash || $0.name == name }) {
            mistakes.add(
                setting,
                other.hash == hash
                    ? "is the hash of the API key \(other.name), which opens every call; siwa api-key creates another"
                    : "cannot stand beside an API key named \(name); remove one of them")
        }
        if apiKeys.isEmpty, isDevelopment {
            mistakes.add(setting, "has no meaning without API keys: every caller may read the metrics")
        }
        return hash
    }

    /// Reads a key's hash. Returns a well-formed hash even if it adds a mistake about that hash.
    private mutating func keyHash(_ text: String, of name: String, in setting: String) -> SHA256Digest? {
        guard !text.hasPrefix(APIKeySecret.prefix) else {
            mistakes.add(
                setting,
                "the hash of \(name) is an API key itself, which belongs to the caller; put its hash here, "
                    + "which siwa api-key --name \(name) prints beside a new key")
            return nil
        }
        guard let bytes = Hexadecimal.decode(text.lowercased()), let hash = SHA256Digest(bytes) else {
            mistakes.add(
                setting,
                "the hash of \(name) must be 64 hexadecimal digits; "
                    + "siwa api-key --name \(name) creates a key and its hash")
            return nil
        }
        if let fault = KnownSecrets.fault(ofHash: hash, name: name, isDevelopment: isDevelopment) {
            mistakes.add(
                setting,
                "the hash of \(name) must be that of a secret, but it \(fault), so the service would be open; "
                    + "siwa api-key --name \(name) creates a key and its hash")
        }
        return hash
    }

    /// If the service accepts every caller, refuses a listening address that other machines can reach.
    ///
    /// The `Host` check protects only against web pages, because other programs can send any `Host`.
    mutating func refuseOtherMachines(at host: String) {
        let name = host.contains(":") ? "[\(host)]" : host
        // If no names are configured, `AllowedHosts` allows only loopback names. Browsers resolve names below
        // localhost to this machine, but its own resolver may return other addresses.
        let isBelowLocalhost = name.lowercased().hasSuffix(".localhost")
        guard isDevelopment, isBelowLocalhost || !AllowedHosts().allow(name) else { return }
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

    private mutating func roles(of key: SettingsFile.Key) -> Set<APIKey.Role> {
        guard let words = key.roles else { return [.backend] }
        let known = APIKey.Role.allCases.map(\.rawValue)
        if words.isEmpty || !words.allSatisfy(known.contains) {
            mistakes.add(
                "api_keys.roles", "of \(key.name) must be a list of \(known.joined(separator: ", "))")
        }
        return Set(words.compactMap { APIKey.Role(rawValue: $0) })
    }

    private func isName(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count) && text.hasOnlyLettersDigits(and: ".-_")
    }
}
