import AppleAccounts
import AppleIDClient
import AppleIdentity
import Encodings
import Foundation
import KeySets

extension SettingsReader {
    /// Returns the file's teams, or the environment's team. Setting both is a mistake, because an app's team
    /// would then be ambiguous.
    mutating func teams() -> [SettingsFile.Team] {
        let single = [
            Setting.teamID, .clientIDs, .servicesIDs, .keyID, .privateKey, .privateKeyFile,
            .webRedirectURL,
        ].filter { text($0) != nil }
        if let file, !file.sections.teams.isEmpty {
            for setting in single {
                mistakes.add(setting.name, "cannot be set together with teams in the file")
            }
            return file.sections.teams
        }
        var team = SettingsFile.Team()
        if let id = text(.teamID) {
            team.teamID = id
        } else {
            mistakes.add(Setting.teamID.name, "is missing: the 10 characters of your Apple team ID")
        }
        if let clientIDs = list(.clientIDs) {
            team.apps = [
                SettingsFile.TeamApp(
                    clientIDs: clientIDs, servicesIDs: list(.servicesIDs) ?? [],
                    webRedirectURL: text(.webRedirectURL))
            ]
        } else {
            mistakes.add(
                Setting.clientIDs.name,
                "is missing: your app's bundle ID; its Services IDs, if it has any, stand in "
                    + Setting.servicesIDs.name)
        }
        team.keyID = text(.keyID)
        team.privateKeyFile = text(.privateKeyFile)
        return [team]
    }

    /// Returns the deployment; `nil` if no app is readable. After a mistake, it contains only the readable
    /// apps.
    mutating func deployment(of teams: [SettingsFile.Team]) -> Deployment? {
        let isFromFile = !(file?.sections.teams.isEmpty ?? true)
        let teamSetting = isFromFile ? "teams.team_id" : Setting.teamID.name
        let appSetting = isFromFile ? "teams.apps.client_ids" : Setting.clientIDs.name
        let servicesSetting = isFromFile ? "teams.apps.services_ids" : Setting.servicesIDs.name
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
            for app in team.apps {
                if !app.servicesIDs.allSatisfy(isClientID) {
                    mistakes.add(servicesSetting, "must be Services IDs: letters, digits, '.', '-' and '_'")
                    continue
                }
                let ids = app.allClientIDs.compactMap { isClientID($0) ? ClientID($0) : nil }
                guard ids.count == app.allClientIDs.count, !app.clientIDs.isEmpty, let primary = ids.first
                else {
                    mistakes.add(
                        appSetting, "must be bundle IDs or Services IDs: letters, digits, '.', '-' and '_'")
                    continue
                }
                // Adds the apps even if the team ID has a mistake, so that references to the apps can be
                // checked. The service does not start with such apps.
                guard let teamID = teamID ?? TeamID(Self.anyTeamID) else { continue }
                if Set(ids).count < ids.count { mistakes.add(appSetting, "names a client ID twice") }
                apps.append(
                    App(
                        team: teamID, primaryClientID: primary, otherClientIDs: Array(ids.dropFirst()),
                        servicesIDs: Set(app.servicesIDs.compactMap { ClientID($0) }),
                        requiresMintedNonce: app.requiresMintedNonce ?? false))
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

    /// Returns true if the text has the format of team IDs and key IDs: 10 capital letters or digits.
    func isCode(_ text: String) -> Bool {
        text.utf8.count == 10
            && text.utf8.allSatisfy { byte in
                (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
                    || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            }
    }

    private func isClientID(_ text: String) -> Bool {
        (1...255).contains(text.utf8.count) && text.hasOnlyLettersDigits(and: ".-_")
    }

    /// A placeholder for a wrong team ID.
    static let anyTeamID = "0000000000"
}

extension SettingsReader {
    mutating func keySource() -> KeySource {
        let file = text(.keysFile)
        if let base = text(.baseURL) {
            let setting = Setting.baseURL.name
            if !isDevelopment {
                mistakes.add(setting, "is only for SIWA_ENV=development; remove it in production")
            }
            if AppleEndpoints(baseURL: base) == nil {
                mistakes.add(setting, "must be an http or https URL without user, query and fragment")
            }
            if file != nil {
                mistakes.add(setting, "cannot be set together with \(Setting.keysFile.name)")
            }
            return .remote(baseURL: base)
        }
        guard let file else { return .remote(baseURL: KeySource.apple) }
        do throws(PinnedKeySetError) {
            return .pinned(try PinnedKeySet(file: file))
        } catch {
            mistakes.add(Setting.keysFile.name, "cannot be used: \(error)")
            return .remote(baseURL: KeySource.apple)
        }
    }

    /// Reads the accepted issuers. Production accepts only Apple's hosts, because other issuers sign with
    /// other keys, so the service could not verify their tokens.
    mutating func issuers() -> [String] {
        let setting = Setting.issuers.name
        let issuers = list(.issuers) ?? []
        if issuers.contains(where: \.isEmpty) { mistakes.add(setting, "has an empty entry") }
        if Set(issuers).count < issuers.count { mistakes.add(setting, "has an entry twice") }
        if !isDevelopment, !issuers.allSatisfy(isApples) {
            mistakes.add(setting, "must be https and a host under apple.com")
        }
        return issuers
    }

    private func isApples(_ issuer: String) -> Bool {
        guard issuer.hasPrefix("https://") else { return false }
        let host = issuer.dropFirst("https://".count)
        let isHostName = host.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
                UInt8(ascii: "-"),
                UInt8(ascii: "."):
                true
            default: false
            }
        }
        return isHostName && (host == "apple.com" || host.hasSuffix(".apple.com"))
    }
}
