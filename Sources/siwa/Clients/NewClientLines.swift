import AppleAccounts
import AuthorizationServer
import Cryptography

/// The lines of a new OAuth client for the configuration file, checked as the service checks them at its
/// start, and the client's secret.
struct NewClientLines {
    struct Draft {
        var id: String
        var kind: String
        var app: String
        var name: String
        var scopes: [String]
        var redirectURIs: [String]
        var platform: String?
        var allowsLocalhost = false
        var requiresPKCE = true
        var projectID: String?
        var googleClientIDs: [String] = []
        var appFlip: Bool
    }

    /// `nil` for a client without one.
    let secret: String?
    let yaml: String

    /// - Throws: `ConfigurationMistakes`, with all of them.
    init(of draft: Draft, withSecret: Bool, isDevelopment: Bool) throws(ConfigurationMistakes) {
        var draft = draft
        if draft.scopes.isEmpty { draft.scopes = Self.usualScopes(of: draft.kind) }
        let isPublic = draft.kind == ClientKind.Name.native.rawValue && !withSecret
        let secret =
            isPublic ? nil : OAuthClientSecret(randomBytes: SecureRandom.bytes(count: 32))
        try Self.check(draft, hash: secret?.hash.hexadecimal, isDevelopment: isDevelopment)
        self.secret = secret?.text
        yaml = Self.yaml(of: draft, hash: secret?.hash.hexadecimal)
    }

    private static func usualScopes(of kind: String) -> [String] {
        switch ClientKind.Name(rawValue: kind) {
        case .googleLinking: ["openid", "email", "profile"]
        case .web, .native, nil: ["openid", "email", "profile", "offline_access"]
        }
    }

    /// Checks everything that does not depend on the rest of the configuration.
    private static func check(
        _ draft: Draft, hash: String?, isDevelopment: Bool
    ) throws(ConfigurationMistakes) {
        var mistakes = ConfigurationMistakes()
        var client = ClientDraft(
            id: draft.id, kind: draft.kind, app: draft.app, name: ["en": draft.name])
        client.secretHashes = [hash].compactMap { $0 }
        client.scopes = draft.scopes
        client.redirectURIs = draft.redirectURIs
        client.platform = draft.platform
        client.allowsLocalhost = draft.allowsLocalhost ? true : nil
        client.requiresPKCE = draft.requiresPKCE ? nil : false
        client.projectID = draft.projectID
        client.googleClientIDs = draft.googleClientIDs
        client.appFlip = draft.appFlip ? true : nil
        // A scope of the service's own is declared elsewhere in the file.
        let declared = draft.scopes.filter { name in !ScopeToken.builtIn.contains { $0.rawValue == name } }
            .map { ScopeDraft(name: $0, text: ["en": $0]) }
        guard let app = ClientID(draft.app), let team = TeamID("AAAAAAAAAA"),
            let deployment = try? Deployment(apps: [App(team: team, primaryClientID: app)])
        else {
            mistakes.add("--app", "must be the primary client ID of an app, like com.example.app")
            throw mistakes
        }
        let surroundings = OAuthSurroundings(
            isDevelopment: isDevelopment, publicURL: "https://issuer.invalid", deployment: deployment,
            appsWithWebSignIn: [app])
        let checked = OAuthSettings.check(
            OAuthDraft(scopes: declared, clients: [client]), in: surroundings)
        if case .refused(let found) = checked {
            for mistake in found { mistakes.add(mistake.setting, mistake.text) }
            throw mistakes
        }
    }

    private static func yaml(of draft: Draft, hash: String?) -> String {
        var lines = [
            "  - id: \(quoted(draft.id))", "    kind: \(draft.kind)", "    app: \(quoted(draft.app))",
            "    name: {en: \(quoted(draft.name))}",
        ]
        if let hash { lines.append("    secret_hashes: [\(quoted(hash))]") }
        lines.append("    scopes: \(list(draft.scopes))")
        if !draft.redirectURIs.isEmpty { lines.append("    redirect_uris: \(list(draft.redirectURIs))") }
        if let platform = draft.platform { lines.append("    platform: \(platform)") }
        if draft.allowsLocalhost { lines.append("    allow_localhost: true") }
        if !draft.requiresPKCE { lines.append("    require_pkce: false") }
        if let projectID = draft.projectID { lines.append("    project_id: \(quoted(projectID))") }
        if !draft.googleClientIDs.isEmpty {
            lines.append("    google_client_ids: \(list(draft.googleClientIDs))")
        }
        if draft.appFlip { lines.append("    app_flip: true") }
        return lines.joined(separator: "\n")
    }

    private static func list(_ values: [String]) -> String {
        "[" + values.map(quoted).joined(separator: ", ") + "]"
    }

    /// In YAML's double quotes, so that no value is taken for a number or for another part of the file.
    private static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            if scalar == "\"" || scalar == "\\" { result.append("\\") }
            result.unicodeScalars.append(scalar)
        }
        return result + "\""
    }
}
