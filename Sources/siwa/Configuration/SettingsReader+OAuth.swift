import AppAttestation
import AppleAccounts
import AuthorizationServer
import Cryptography
import Foundation

extension SettingsReader {
    /// Reads the section `oauth`. Returns `nil` when it declares no client, and after a mistake.
    ///
    /// - Parameters:
    ///   - appCheck: The bundle IDs that make proofs.
    ///   - servicesIDs: The Services IDs of `services_ids`.
    ///   - webRedirectURLs: Redirect URLs by client ID. An app has sign-in on the web when one of its client
    ///     IDs has a redirect URL: users of an OAuth client's app sign in with the app's Services ID.
    mutating func oauthSettings(
        for deployment: Deployment?, appCheck: AppCheckPolicies, servicesIDs: Set<ClientID>,
        publicURL: String?, sealingKeys: SealingKeyRing?,
        webRedirectURLs: [ClientID: String]
    ) -> OAuthSettings? {
        // The section is checked also when no app can be read, which is a mistake of its own.
        guard let file, let known = deployment ?? Self.deploymentOfNoApp else { return nil }
        var draft = file.sections.oauth
        for app in file.sections.teams.flatMap(\.apps) where !app.name.isEmpty {
            if let primary = app.clientIDs.first { draft.appNames[primary] = app.name }
        }
        checkSecrets(of: draft.clients)
        checkServicesIDs(
            of: Set(draft.clients.compactMap { ClientID($0.app).flatMap(known.app) }),
            named: servicesIDs, webRedirectURLs: webRedirectURLs)
        let languages = languages(in: draft.textsDirectory)
        let context = OAuthContext(
            isDevelopment: isDevelopment, publicURL: publicURL, deployment: known,
            appsWithWebSignIn: Set(
                known.apps.lazy.filter { app in
                    // The first client ID is the App ID, which cannot sign users in on the web.
                    app.clientIDs.dropFirst().contains { webRedirectURLs[$0] != nil }
                }.map(\.primaryClientID)),
            appCheck: appCheck, logos: Self.logos(of: draft.clients),
            languages: languages)
        if !draft.clients.isEmpty, sealingKeys == nil, text(.sealingKeys) == nil {
            mistakes.add(
                Setting.sealingKeys.name,
                "is missing: oauth.clients need it, because the keys that sign tokens are stored sealed; "
                    + "siwa sealing-key creates one")
        }
        switch OAuthSettings.check(draft, in: context) {
        case .none: return nil
        case .refused(let found):
            // An app whose client IDs have a mistake is unknown, which is no further mistake.
            let apps = file.sections.teams.flatMap(\.apps)
            let isWhole = deployment.map { $0.apps.count >= apps.count } ?? false
            for mistake in found where isWhole || mistake.code != .appUnknown {
                mistakes.add(mistake.setting, mistake.text)
            }
            return nil
        case .usable(let settings): return settings
        }
    }

    /// Stands for a deployment without an app. Its app has a name that no client has.
    private static let deploymentOfNoApp: Deployment? = TeamID(anyTeamID).flatMap { team in
        ClientID("no app").flatMap { try? Deployment(apps: [App(team: team, primaryClientID: $0)]) }
    }

    /// Reads the texts of further languages.
    private mutating func languages(in directory: String?) -> PageLanguages {
        guard let directory else { return .builtIn }
        let (languages, found) = TextsDirectory(path: directory).languages()
        for mistake in found { mistakes.add(mistake.setting, mistake.text) }
        return languages
    }

    /// Reads the pictures of clients, each once and not much past the bound.
    private static func logos(of clients: [ClientDraft]) -> [String: [UInt8]] {
        var logos: [String: [UInt8]] = [:]
        for file in Set(clients.compactMap(\.logoFile)) {
            guard let handle = FileHandle(forReadingAtPath: file) else { continue }
            defer { try? handle.close() }
            guard let content = try? handle.read(upToCount: ClientLogo.mostBytes + 1) else { continue }
            logos[file] = Array(content)
        }
        return logos
    }

    /// Refuses an app with several candidates for its Services ID. Apple's page refuses bundle IDs, and a
    /// client ID does not show whether it is a Services ID, so the authorization endpoint would have to
    /// guess.
    private mutating func checkServicesIDs(
        of apps: Set<App>, named servicesIDs: Set<ClientID>, webRedirectURLs: [ClientID: String]
    ) {
        for app in apps.sorted(by: { $0.primaryClientID < $1.primaryClientID }) {
            let candidates = app.clientIDs.dropFirst().filter { webRedirectURLs[$0] != nil }
            guard candidates.count > 1, servicesIDs.isDisjoint(with: candidates) else { continue }
            let isFromFile = !(file?.sections.teams.isEmpty ?? true)
            let (setting, from) =
                isFromFile
                ? ("teams.apps.services_ids", "client_ids")
                : (Setting.servicesIDs.name, Setting.clientIDs.name)
            mistakes.add(
                setting,
                "is missing: \(app.primaryClientID.rawValue) has OAuth clients, whose users sign in with a "
                    + "Services ID, and several other client IDs; move the Services IDs there from \(from)")
        }
    }

    /// Refuses publicly known client secrets: a client ID is public, so everyone could act as the client.
    private mutating func checkSecrets(of clients: [ClientDraft]) {
        for client in clients {
            for hash in client.secretHashes {
                guard
                    let fault = KnownSecrets.fault(
                        ofClientSecretHash: hash, client: client.id, isDevelopment: isDevelopment)
                else { continue }
                mistakes.add(
                    "oauth.clients.secret_hashes",
                    "of \(client.id) must be the hash of a random secret, but it \(fault), so anyone could act as "
                        + "this client; siwa client new prints a secret and its hash")
            }
        }
    }

    /// Endpoints of Google, or in development of the fake Google.
    mutating func googleEndpoints() -> GoogleEndpoints {
        guard let base = text(.googleBaseURL) else { return .google }
        let setting = Setting.googleBaseURL.name
        if !isDevelopment {
            mistakes.add(setting, "is only for SIWA_ENV=development; remove it in production")
        }
        guard let endpoints = GoogleEndpoints(baseURL: base) else {
            mistakes.add(setting, "must be an http or https URL without user, query and fragment")
            return .google
        }
        return endpoints
    }
}
