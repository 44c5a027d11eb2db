import AppAttestation
import AppleAccounts

extension SettingsReader {
    /// Reads the `app_attest` entries. If a word in an entry is wrong, the policy uses the default instead,
    /// so that this bundle ID's clients cause no additional mistake.
    ///
    /// A bundle ID without its own mode gets the strictest mode among the app's bundle IDs, because all of
    /// them sign in to the same accounts.
    ///
    /// - Parameter webClientIDs: Client IDs for sign-in on Apple's page, where apps cannot create a proof.
    mutating func appCheckPolicies(
        of teams: [SettingsFile.Team], webClientIDs: Set<ClientID>
    ) -> [AppCheckPolicy] {
        var policies: [AppCheckPolicy] = []
        for team in teams {
            for app in team.apps {
                var declared: [(policy: AppCheckPolicy, hasMode: Bool)] = []
                for entry in app.attested {
                    guard let policy = policy(of: entry, app: app, team: team) else { continue }
                    if (policies + declared.map(\.policy)).contains(where: { $0.target == policy.target }) {
                        mistakes.add(
                            "\(Self.attested).bundle_id",
                            "\(entry.bundleID) has two entries; remove one")
                    }
                    declared.append((policy, entry.mode != nil))
                }
                guard let strictest = declared.map(\.policy).max(by: { $0.mode < $1.mode }) else { continue }
                policies += declared.map { $0.hasMode ? $0.policy : $0.policy.atLeast(strictest.mode) }
                policies += undeclaredPolicies(
                    of: app, team: team, like: strictest, webClientIDs: webClientIDs)
            }
        }
        return policies
    }

    /// Returns the policies for bundle IDs without an entry. They use the defaults of an entry and the
    /// strictest policy's environment.
    private func undeclaredPolicies(
        of app: SettingsFile.TeamApp, team: SettingsFile.Team, like strictest: AppCheckPolicy,
        webClientIDs: Set<ClientID>
    ) -> [AppCheckPolicy] {
        guard strictest.mode != .off else { return [] }
        return app.clientIDs.enumerated().compactMap { position, id in
            // The first client ID is the App ID, which cannot sign users in on the web.
            let isOfWeb =
                app.servicesIDs.contains(id)
                || (position > 0 && ClientID(id).map { webClientIDs.contains($0) } ?? true)
            guard !isOfWeb, !app.attested.contains(where: { $0.bundleID == id }),
                let appID = AppID(teamID: team.teamID, bundleID: id)
            else { return nil }
            return AppCheckPolicy(
                target: .app(bundleID: id), appID: appID, platform: .iOS, mode: .off,
                environment: strictest.environment, firstAttestingVersion: nil
            ).atLeast(strictest.mode)
        }
    }

    private static let attested = "teams.apps.app_attest"

    private mutating func policy(
        of entry: SettingsFile.AttestedApp, app: SettingsFile.TeamApp, team: SettingsFile.Team
    ) -> AppCheckPolicy? {
        let isKnown = checkBundleID(of: entry, app: app)
        // The message repeats the text only if it is one of the app's bundle IDs.
        let owner = isKnown ? "of \(entry.bundleID) " : ""
        let mode: AppCheckMode = word(entry.mode, "app_check", owner) ?? .off
        let environment: AttestationEnvironment = word(entry.environment, "environment", owner) ?? .production
        let platform: AppPlatform = word(entry.platform, "platform", owner) ?? .iOS
        let first = entry.firstAttestingVersion.flatMap { AppVersion($0) }
        if entry.firstAttestingVersion != nil, first == nil {
            mistakes.add(
                "\(Self.attested).first_attesting_version", "\(owner)must be \(AppVersion.form), like 4.2.1")
        }
        guard isKnown else { return nil }
        // A wrong team ID is reported separately.
        let teamID = isCode(team.teamID) ? team.teamID : Self.anyTeamID
        guard let appID = AppID(teamID: teamID, bundleID: entry.bundleID) else {
            mistakes.add("\(Self.attested).bundle_id", "must have 1 to 155 letters, digits, '-', '_' and '.'")
            return nil
        }
        return AppCheckPolicy(
            target: .app(bundleID: entry.bundleID), appID: appID, platform: platform, mode: mode,
            environment: environment, firstAttestingVersion: first)
    }

    private mutating func checkBundleID(
        of entry: SettingsFile.AttestedApp, app: SettingsFile.TeamApp
    ) -> Bool {
        let setting = "\(Self.attested).bundle_id"
        guard !entry.bundleID.isEmpty else {
            mistakes.add(setting, "is missing: the bundle ID of the app, which is one of its client_ids")
            return false
        }
        guard !entry.bundleID.contains("*") else {
            mistakes.add(setting, "must be one bundle ID without *; write an entry for each bundle ID")
            return false
        }
        guard app.clientIDs.contains(entry.bundleID), !app.servicesIDs.contains(entry.bundleID) else {
            mistakes.add(setting, "must be one of the client_ids of its app, and no Services ID")
            return false
        }
        return true
    }

    private mutating func word<Word: RawRepresentable<String> & CaseIterable>(
        _ text: String?, _ member: String, _ owner: String
    ) -> Word? {
        guard let text else { return nil }
        if let word = Word(rawValue: text) { return word }
        let known = Word.allCases.map(\.rawValue).joined(separator: ", ")
        mistakes.add("\(Self.attested).\(member)", "\(owner)must be one of \(known)")
        return nil
    }
}

extension SettingsReader {
    /// Reads the switch for exchanging receipts. The exchange needs a sealing key, and a signing key for its
    /// requests.
    mutating func receiptExchange(canSeal: Bool, canSign: Bool) -> ReceiptExchange {
        let exchange: ReceiptExchange = choice(.receipts) ?? .off
        switch exchange {
        case .off: break
        case .on:
            if !canSeal {
                mistakes.add(
                    Setting.receipts.name,
                    "needs \(Setting.sealingKeys.name), with which receipts are kept")
            }
            if !canSign {
                mistakes.add(
                    Setting.receipts.name,
                    "needs \(Setting.privateKeyFile.name), a key of Apple with DeviceCheck enabled")
            }
        }
        return exchange
    }
}

/// A switch for storing App Attest receipts, and exchanging them with Apple for the risk metric.
package enum ReceiptExchange: String, CaseIterable {
    case off
    /// Receipts are exchanged. The teams' signing keys must have DeviceCheck enabled.
    case on
}
