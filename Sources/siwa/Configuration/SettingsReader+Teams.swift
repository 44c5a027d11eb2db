import AppleAccounts
import Foundation

extension SettingsReader {
    /// The teams of the file, or the one of the environment. Mixing them would leave open which apps belong where.
    mutating func teams() -> [SettingsFile.Team] {
        let single = [SettingName.teamID, .clientIDs, .keyID, .privateKey, .privateKeyFile].filter {
            text($0) != nil
        }
        if let file, !file.teams.isEmpty {
            for name in single { mistakes.add(name.rawValue, "cannot be set beside the file's teams") }
            return file.teams
        }
        var team = SettingsFile.Team()
        if let id = text(.teamID) {
            team.teamID = id
        } else {
            mistakes.add(SettingName.teamID.rawValue, "is missing: the 10 characters of your Apple team")
        }
        if let clientIDs = list(.clientIDs) {
            team.apps = [clientIDs]
        } else {
            mistakes.add(
                SettingName.clientIDs.rawValue,
                "is missing: your app's bundle ID, then its Services IDs if it has any")
        }
        team.keyID = text(.keyID)
        team.privateKeyFile = text(.privateKeyFile)
        return [team]
    }

    /// `nil` after a mistake.
    mutating func deployment(of teams: [SettingsFile.Team]) -> Deployment? {
        let isFromFile = !(file?.teams.isEmpty ?? true)
        let teamSetting = isFromFile ? "teams.team_id" : SettingName.teamID.rawValue
        let appSetting = isFromFile ? "teams.apps.client_ids" : SettingName.clientIDs.rawValue
        var apps: [App] = []
        var seen: Set<String> = []
        for team in teams {
            let teamID = isCode(team.teamID) ? TeamID(team.teamID) : nil
            if teamID == nil, isFromFile || !team.teamID.isEmpty {
                mistakes.add(teamSetting, "must be 10 capital letters and digits")
            }
            if isFromFile, !seen.insert(team.teamID).inserted {
                mistakes.add(teamSetting, "names a team twice")
            }
            if isFromFile, team.apps.isEmpty { mistakes.add("teams.apps", "a team has no app") }
            for clientIDs in team.apps {
                let ids = clientIDs.compactMap { isClientID($0) ? ClientID($0) : nil }
                guard ids.count == clientIDs.count, let primary = ids.first, let teamID else {
                    if ids.count != clientIDs.count || ids.isEmpty {
                        mistakes.add(
                            appSetting, "must be bundle IDs or Services IDs: letters, digits, '.' and '-'")
                    }
                    continue
                }
                if Set(ids).count < ids.count { mistakes.add(appSetting, "names a client ID twice") }
                apps.append(
                    App(team: teamID, primaryClientID: primary, otherClientIDs: Array(ids.dropFirst())))
            }
        }
        guard !apps.isEmpty else { return nil }
        do throws(DeploymentError) {
            return try Deployment(apps: apps)
        } catch {
            mistakes.add(appSetting, error.description)
            return nil
        }
    }

    /// The keys for calls to Apple. They are optional: nothing here needs one to verify.
    mutating func signingKeys(of teams: [SettingsFile.Team]) -> [TeamID: SigningKey] {
        var keys: [TeamID: SigningKey] = [:]
        let isFromFile = !(file?.teams.isEmpty ?? true)
        for team in teams {
            let setting = isFromFile ? "teams.private_key_file" : SettingName.privateKeyFile.rawValue
            let inline = isFromFile ? nil : text(.privateKey)
            if inline != nil, team.privateKeyFile != nil {
                mistakes.add(SettingName.privateKey.rawValue, "cannot be set beside \(setting)")
                continue
            }
            let hasKey = inline != nil || team.privateKeyFile != nil
            guard hasKey || team.keyID != nil else { continue }
            guard hasKey, let keyID = team.keyID else {
                mistakes.add(
                    isFromFile ? "teams.key_id" : SettingName.keyID.rawValue,
                    "a private key and its ID belong together; one of them is missing")
                continue
            }
            let source = inline == nil ? setting : SettingName.privateKey.rawValue
            guard let pem = inline ?? content(of: team.privateKeyFile ?? "", for: setting) else { continue }
            do throws(SigningKey.Refusal) {
                let key = try SigningKey(keyID: keyID, pem: pem)
                if let id = TeamID(team.teamID) { keys[id] = key }
            } catch {
                switch error {
                case .keyIDMalformed:
                    mistakes.add(
                        isFromFile ? "teams.key_id" : SettingName.keyID.rawValue,
                        "must be 10 capital letters and digits")
                case .keyMalformed:
                    mistakes.add(
                        source,
                        "must be a P-256 private key in PEM (BEGIN PRIVATE KEY), as Apple gives it out")
                }
            }
        }
        return keys
    }

    private mutating func content(of path: String, for setting: String) -> String? {
        if let text = try? String(contentsOfFile: path, encoding: .utf8) { return text }
        mistakes.add(setting, "the file cannot be read")
        return nil
    }

    /// Team IDs and key IDs: 10 capital letters and digits.
    private func isCode(_ text: String) -> Bool {
        text.utf8.count == 10
            && text.utf8.allSatisfy { byte in
                (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
                    || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            }
    }

    private func isClientID(_ text: String) -> Bool {
        (1...255).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "."), UInt8(ascii: "-"):
                    true
                default: false
                }
            }
    }
}
