import AppAttestation
import AppleAccounts
import AuthorizationServer
import Cryptography
import Foundation
import HTTPAPI
import Yams

extension SettingsReader {
    /// Reads the `oauth` section. Returns `nil` if the section declares no client or has a mistake.
    ///
    /// - Parameters:
    ///   - appCheck: The bundle IDs that use App Attest.
    ///   - servicesIDs: The Services IDs in `services_ids`.
    ///   - webRedirectURLs: Redirect URLs by client ID. An app supports sign-in on the web if one of its
    ///     client IDs has a redirect URL, because an OAuth client's users sign in with the Services ID of the
    ///     client's app.
    mutating func oauthSettings(
        for deployment: Deployment?, appCheck: AppCheckPolicies, servicesIDs: Set<ClientID>,
        publicURL: String?, sealingKeys: SealingKeyRing?,
        webRedirectURLs: [ClientID: String]
    ) -> OAuthSettings? {
        // Checks the section even if no app could be read, because its errors do not depend on the apps.
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
            // An app with mistakes in its client IDs is unknown here, but a reference to it causes no
            // additional mistake.
            let apps = file.sections.teams.flatMap(\.apps)
            let isWhole = deployment.map { $0.apps.count >= apps.count } ?? false
            for mistake in found where isWhole || mistake.code != .appUnknown {
                mistakes.add(mistake.setting, mistake.text)
            }
            return nil
        case .usable(let settings): return settings
        }
    }

    /// A placeholder for a deployment without apps. No client uses its app.
    private static let deploymentOfNoApp: Deployment? = TeamID(anyTeamID).flatMap { team in
        ClientID("no app").flatMap { try? Deployment(apps: [App(team: team, primaryClientID: $0)]) }
    }

    /// Reads the texts for additional languages.
    private mutating func languages(in directory: String?) -> PageLanguages {
        guard let directory else { return .builtIn }
        let (languages, found) = TextsDirectory(path: directory).languages()
        for mistake in found { mistakes.add(mistake.setting, mistake.text) }
        return languages
    }

    /// Reads each client's logo once, up to slightly more than the size limit.
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

    /// Refuses an app with several candidates for its Services ID. Apple's page refuses bundle IDs, and the
    /// text of a client ID does not show whether it is a Services ID, so the authorization endpoint would
    /// have to guess.
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

    /// Refuses publicly known client secrets. Client IDs are public, so with a known secret any program could
    /// act as the client.
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

    /// Returns Google's endpoints, or in development the fake Google's endpoints.
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

/// The files with texts for additional languages, in one of the deployment's directories.
struct TextsDirectory {
    private(set) var drafts: [TranslationDraft] = []
    private(set) var mistakes: [OAuthMistake] = []
    private let texts = TranslationDraft.texts(of: PageTexts.parts)

    /// Reads the files. Skips files whose names begin with a period, because some mounted volumes contain
    /// such files.
    init(path: String) {
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: path) else {
            add(
                .textsDirectoryUnreadable,
                "must be a directory that the service can read, with a file like fr.yaml for each language")
            return
        }
        for name in names.sorted() where !name.hasPrefix(".") { read(name, in: path) }
    }

    /// Checks the files and returns the page languages, with all mistakes.
    func languages() -> (languages: PageLanguages, mistakes: [OAuthMistake]) {
        let (languages, found) = PageLanguages.check(drafts, parts: PageTexts.parts)
        return (languages, mistakes + found)
    }

    private mutating func add(_ code: OAuthMistake.Code, _ text: String) {
        mistakes.append(OAuthMistake(code, at: PageLanguages.setting, text))
    }

    private mutating func read(_ name: String, in directory: String) {
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, ["yaml", "yml", "json"].contains(parts[1]) else {
            return add(
                .languageTagMalformed,
                "has \(name.debugDescription); name a file of texts as its language, like fr.yaml, and keep no other "
                    + "files there")
        }
        let tag = String(parts[0])
        guard !drafts.contains(where: { $0.tag == tag }) else {
            return add(.translationUnreadable, "has several files for \(tag); remove one")
        }
        guard let content = Self.content(of: "\(directory)/\(name)") else {
            return add(
                .translationUnreadable,
                "has \(name), which cannot be read or has more than \(TranslationDraft.longestFile) bytes")
        }
        var draft = TranslationDraft(file: name, tag: tag, texts: [:])
        do {
            // The YAML parser also reads JSON.
            let root = try Parser(yaml: content).singleRoot()
            flatten(root, at: "", into: &draft)
        } catch {
            return add(
                .translationUnreadable,
                "has \(name), which is \((error as? YamlError).map(Self.words) ?? "not YAML")")
        }
        drafts.append(draft)
    }

    /// Reads a file; returns `nil` if it is unreadable or too long.
    private static func content(of path: String) -> Data? {
        guard let handle = FileHandle(forReadingAtPath: path) else { return nil }
        defer { try? handle.close() }
        do {
            // An empty file yields no data, which is not an error.
            let content = try handle.read(upToCount: TranslationDraft.longestFile + 1) ?? Data()
            return content.count <= TranslationDraft.longestFile ? content : nil
        } catch {
            return nil
        }
    }

    private static func words(for error: YamlError) -> String { SettingsFile.words(for: error) }

    /// Reads text groups. Reports unknown names here, where their line numbers are known.
    private mutating func flatten(_ node: Node?, at path: String, into draft: inout TranslationDraft) {
        guard let mapping = node?.mapping else {
            let line = node.map { SettingsFile.line($0) } ?? ""
            let place = path.isEmpty ? "the file" : path
            return add(
                .translationUnreadable,
                "has \(draft.file), \(line)\(place) must be a mapping of names to texts")
        }
        let known = names(below: path)
        for (key, node) in mapping {
            let name = key.scalar?.string ?? ""
            let place = path.isEmpty ? name : "\(path).\(name)"
            guard known.contains(name) else {
                let nearest = NearestName.of(name, among: known) ?? ""
                add(
                    .translationUnknown,
                    "has \(draft.file), \(SettingsFile.line(key))\(place) is not known; did you mean \(nearest)?"
                )
                continue
            }
            guard texts.contains(where: { $0.path == place }) else {
                flatten(node, at: place, into: &draft)
                continue
            }
            guard let text = node.scalar?.string else {
                add(
                    .translationUnreadable,
                    "has \(draft.file), \(SettingsFile.line(node))\(place) must be a text")
                continue
            }
            draft.texts[place] = text
        }
    }

    /// Returns the names of the texts and groups directly below a path, in translation file order.
    private func names(below path: String) -> [String] {
        let start = path.isEmpty ? "" : "\(path)."
        var names: [String] = []
        for (path, _) in texts where path.hasPrefix(start) {
            let name = String(path.dropFirst(start.count).prefix { $0 != "." })
            if names.last != name { names.append(name) }
        }
        return names
    }
}
