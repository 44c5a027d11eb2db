import AppleAccounts
import AppleIDClient
import Cryptography
import Encodings
import Foundation

extension SettingsReader {
    /// Reads the signing keys for calls to Apple. They are optional, because verification does not need them.
    mutating func signingKeys(of teams: [SettingsFile.Team]) -> [TeamID: SigningKeyLocation] {
        var locations: [TeamID: SigningKeyLocation] = [:]
        let isFromFile = !(file?.sections.teams.isEmpty ?? true)
        let keyIDSetting = isFromFile ? "teams.key_id" : Setting.keyID.name
        let fileSetting = isFromFile ? "teams.private_key_file" : Setting.privateKeyFile.name
        for team in teams {
            let inline = isFromFile ? nil : text(.privateKey)
            if inline != nil, team.privateKeyFile != nil {
                mistakes.add(Setting.privateKey.name, "cannot be set together with \(fileSetting)")
                continue
            }
            let setting = inline == nil ? fileSetting : Setting.privateKey.name
            guard let location = location(of: team, inline: inline, settings: (setting, keyIDSetting)) else {
                continue
            }
            do throws(SigningKeyError) {
                _ = try SigningKeyFiles.read(location)
            } catch {
                add(error, settings: (setting, keyIDSetting))
                continue
            }
            if let id = TeamID(team.teamID) { locations[id] = location }
        }
        return locations
    }

    /// Returns a team's key location; `nil` if the team has no key or the key has a mistake.
    private mutating func location(
        of team: SettingsFile.Team, inline: String?, settings: (key: String, keyID: String)
    ) -> SigningKeyLocation? {
        if let path = team.privateKeyFile {
            var isDirectory: ObjCBool = false
            guard FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) else {
                add(SigningKeyError(.missing, path: path), settings: settings)
                return nil
            }
            guard isDirectory.boolValue else { return .file(path: path, keyID: team.keyID) }
            if team.keyID != nil {
                mistakes.add(
                    settings.keyID, "cannot be set for a directory: the key IDs are in the file names")
                return nil
            }
            return .directory(path: path)
        }
        guard inline != nil || team.keyID != nil else { return nil }
        guard let inline, let keyID = team.keyID else {
            mistakes.add(
                settings.keyID, "a private key and its ID belong together; one of them is missing")
            return nil
        }
        do throws(ClientSigningKey.Refusal) {
            return .key(try ClientSigningKey(keyID: keyID, pem: inline))
        } catch {
            switch error {
            case .keyIDMalformed: add(SigningKeyError(.keyIDMalformed), settings: settings)
            case .notPEM: add(SigningKeyError(.notPEM), settings: settings)
            case .notP256: add(SigningKeyError(.notP256), settings: settings)
            }
            return nil
        }
    }

    private mutating func add(_ error: SigningKeyError, settings: (key: String, keyID: String)) {
        let setting =
            switch error.code {
            case .keyIDMissing, .keyIDMalformed: settings.keyID
            case .missing, .unreadable, .noKey, .tooManyKeys, .notPEM, .notP256: settings.key
            }
        mistakes.add(setting, error.errorText)
    }
}

extension SigningKeyError {
    /// The error and its file as text that follows a setting's name.
    var errorText: String {
        guard let path, let place = ConfigurationMistakes.place(path) else { return code.errorText }
        return "\(place): \(code.errorText)"
    }
}

extension SigningKeyError.Code {
    fileprivate var errorText: String {
        switch self {
        case .missing: "there is no such file or directory"
        case .unreadable: "cannot be read by this user; check its owner and mode"
        case .noKey: "the directory has no file named AuthKey_<key ID>.p8"
        case .tooManyKeys: "the directory has more than 8 keys; remove those that Apple no longer knows"
        case .keyIDMissing: "is missing, and the file is not named AuthKey_<key ID>.p8"
        case .keyIDMalformed: "must be 10 capital letters and digits"
        case .notPEM: "must be a private key in PEM (BEGIN PRIVATE KEY), like Apple's .p8 files"
        case .notP256: "must be a P-256 private key, like Apple's .p8 files"
        }
    }
}

extension SettingsReader {
    /// Reads the keys that seal stored refresh tokens. Without a key, the service stores no refresh tokens.
    mutating func sealingKeys() -> SealingKeyRing? {
        guard let entries = list(.sealingKeys) else { return nil }
        let setting = Setting.sealingKeys.name
        var keys: [SealingKey] = []
        for (index, entry) in entries.enumerated() {
            // A message identifies an entry by its number and never repeats it, because an entry without a
            // name consists only of the secret.
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
