import AppAttestation
import AppleAccounts
import AuthorizationServer
import Composition
import Cryptography

/// A new OAuth client's configuration lines and secret. The lines have passed the same checks as the
/// service's configuration at startup.
struct NewClientLines {
    /// The secret; `nil` for a client without a secret.
    let secret: String?
    let yaml: String

    /// - Throws: `ConfigurationMistakes` with all mistakes.
    init(of draft: ClientDraft, withSecret: Bool, isDevelopment: Bool) throws(ConfigurationMistakes) {
        var client = draft
        // The check below refuses an unknown kind.
        let kind = ClientKind.named(client.kind)
        if client.scopes.isEmpty { client.scopes = kind?.usualScopes.map(\.rawValue) ?? [] }
        let hasSecret = withSecret || kind?.isConfidential ?? false
        let secret = hasSecret ? OAuthClientSecret(randomBytes: SecureRandom.bytes(count: 32)) : nil
        client.secretHashes = [secret?.hash.hexadecimal].compactMap { $0 }
        try Self.check(client, isDevelopment: isDevelopment)
        self.secret = secret?.text
        yaml = Self.yaml(of: client)
    }

    /// Checks everything that does not depend on the rest of the configuration.
    private static func check(
        _ client: ClientDraft, isDevelopment: Bool
    ) throws(ConfigurationMistakes) {
        var mistakes = ConfigurationMistakes()
        // The service's own scopes are declared in another part of the file.
        let declared = client.scopes.filter { name in !ScopeToken.builtIn.contains { $0.rawValue == name } }
            .map { ScopeDraft(name: $0, text: ["en": $0]) }
        guard let app = ClientID(client.app), let team = TeamID("AAAAAAAAAA"),
            // The app's other client IDs are in another part of the file.
            let deployment = try? Deployment(
                apps: [
                    App(
                        team: team, primaryClientID: app,
                        otherClientIDs: [client.bundleID.flatMap { ClientID($0) }].compactMap { $0 })
                ])
        else {
            mistakes.add("--app", "must be the primary client ID of an app, like com.example.app")
            throw mistakes
        }
        let context = OAuthContext(
            isDevelopment: isDevelopment, publicURL: "https://issuer.invalid", deployment: deployment,
            appsWithWebSignIn: [app], appCheck: Self.attested(client, team: team))
        let checked = OAuthSettings.check(
            OAuthDraft(scopes: declared, clients: [client]), in: context)
        if case .refused(let found) = checked {
            for mistake in found { mistakes.add(mistake.setting, mistake.text) }
            throw mistakes
        }
    }

    /// Returns the `app_attest` entry that the client needs. The real entry is in another part of the file.
    private static func attested(_ client: ClientDraft, team: TeamID) -> AppCheckPolicies {
        let bundleID = client.bundleID ?? client.app
        guard let appID = AppID(teamID: team.rawValue, bundleID: bundleID) else { return .none }
        return AppCheckPolicies([
            AppCheckPolicy(
                target: .app(bundleID: bundleID), appID: appID, platform: .iOS, mode: .off,
                environment: .production, firstAttestingVersion: nil)
        ])
    }

    private static func yaml(of client: ClientDraft) -> String {
        let lines = ClientMember.all.compactMap { member in
            text(of: member, in: client).map { "    \(member.name): \($0)" }
        }
        return "  - " + lines.joined(separator: "\n").dropFirst(4)
    }

    /// Returns a member's value as YAML; `nil` if it is absent.
    private static func text(of member: ClientMember, in client: ClientDraft) -> String? {
        switch member.value {
        case .text(let path): quoted(client[keyPath: path])
        case .word(let path): client[keyPath: path]
        case .optionalText(let path): client[keyPath: path].map(quoted)
        case .optionalWord(let path, _): client[keyPath: path]
        case .texts(let path): texts(client[keyPath: path])
        case .list(let path, _): client[keyPath: path].isEmpty ? nil : list(client[keyPath: path])
        case .optionalList(let path): client[keyPath: path].map(list)
        case .flag(let path, _): client[keyPath: path].map { "\($0)" }
        case .number(let path, _, _, _), .optionalSeconds(let path, _): client[keyPath: path].map { "\($0)" }
        }
    }

    private static func texts(_ texts: [String: String]) -> String? {
        let entries = texts.sorted { $0.key < $1.key }.map { "\($0.key): \(quoted($0.value))" }
        return entries.isEmpty ? nil : "{\(entries.joined(separator: ", "))}"
    }

    private static func list(_ values: [String]) -> String {
        "[" + values.map(quoted).joined(separator: ", ") + "]"
    }

    /// Quotes a value with YAML's double quotes, so that YAML reads it as text, not as a number or as syntax.
    private static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            if scalar == "\"" || scalar == "\\" { result.append("\\") }
            result.unicodeScalars.append(scalar)
        }
        return result + "\""
    }
}

/// The mistakes in a new client. They use the option names of `siwa client new`, because no configuration
/// exists yet.
struct NewClientMistakes: CustomStringConvertible {
    let description: String

    /// - Parameter id: The client's ID. Each configuration mistake begins with it.
    init(_ mistakes: ConfigurationMistakes, id: String) {
        let lines = mistakes.list.map { Self.option(of: $0, id: id) }
        description =
            lines.count == 1
            ? lines[0]
            : "\(lines.count) options are wrong:\n" + lines.map { "  - \($0)" }.joined(separator: "\n")
    }

    /// Replaces a member's configuration name with the name of its option.
    private static func option(of mistake: String, id: String) -> String {
        for (member, option) in options where mistake.hasPrefix("\(member): ") {
            let text = mistake.dropFirst(member.count + 2)
            let client = "of \(id) "
            return text.hasPrefix(client) ? "\(option) \(text.dropFirst(client.count))" : "\(option): \(text)"
        }
        return mistake
    }

    private static let options = [
        ("oauth.clients.id", "--id"), ("oauth.clients.kind", "--kind"), ("oauth.clients.app", "--app"),
        ("oauth.clients.name", "--name"), ("oauth.clients.scopes", "--scope"), ("oauth.scopes", "--scope"),
        ("oauth.scopes.name", "--scope"), ("oauth.scopes.text", "--scope"),
        ("oauth.clients.imply_openid", "--imply-openid"), ("oauth.clients.bundle_id", "--bundle-id"),
        ("oauth.clients.app_check", "--app-check"),
        ("oauth.clients.first_attesting_version", "--first-attesting-version"),
        ("oauth.clients.redirect_uris", "--redirect-uri"),
        ("oauth.clients.platform", "--platform"), ("oauth.clients.project_id", "--project-id"),
        ("oauth.clients.google_client_ids", "--google-client-id"), ("oauth.clients.app_flip", "--app-flip"),
        ("oauth.clients.secret_hashes", "--with-secret"),
    ]
}
