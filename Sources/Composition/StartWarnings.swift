import AppleAccounts
import AppleIDClient
import AuthorizationServer
import Encodings

/// Warnings about settings that are valid but probably mistakes. Logged at every start.
struct StartWarnings: Equatable {
    let texts: [String]

    init(_ settings: ServiceSettings) {
        var texts: [String] = []
        if let issuer = settings.oauth?.issuer.text, let publicURL = settings.publicURL,
            let issuerHost = WebAddress(issuer)?.host, let publicHost = WebAddress(publicURL)?.host,
            issuerHost != publicHost
        {
            texts.append(
                "oauth.issuer has the host \(issuerHost) and SIWA_PUBLIC_URL \(publicHost): no OAuth client can sign "
                    + "users in. Use one host for both")
        }
        for (team, location) in settings.signingKeys.sorted(by: { $0.key < $1.key }) {
            guard case .file(let path, let keyID?) = location,
                let named = SigningKeyLocation.keyID(inFileName: path), named != keyID
            else { continue }
            texts.append(
                "the key file of team \(team.rawValue) is named for key \(named), but the key ID is set to \(keyID): "
                    + "Apple refuses the key if it is not \(keyID). Remove the key ID, so that the file's name counts"
            )
        }
        self.texts = texts
    }
}

/// The features that the service disables because a key is missing, as a message for the operator.
///
/// There is no message once all keys are configured, because an app without a web site does not need browser
/// sign-in. The message goes only to the log, because `/health` is public and its callers need not know the
/// configuration.
struct DisabledFeatures: Equatable {
    let text: String

    /// Returns `nil` if all teams have signing keys and a sealing key is configured.
    init?(_ settings: ServiceSettings) {
        let teams = Set(settings.deployment.apps.map(\.team))
        let teamsWithoutKey = teams.filter { settings.signingKeys[$0] == nil }.sorted()
        guard !teamsWithoutKey.isEmpty || settings.sealingKeys == nil else { return nil }
        var missing: [String] = []
        if teamsWithoutKey == teams.sorted() {
            missing.append(Setting.privateKeyFile.name)
        } else if !teamsWithoutKey.isEmpty {
            // Only a configuration file can declare several teams.
            let names = teamsWithoutKey.map(\.rawValue).joined(separator: ", ")
            missing.append("private_key_file of team \(names)")
        }
        if settings.sealingKeys == nil { missing.append(Setting.sealingKeys.name) }
        var parts = ["code exchange, daily check and erasure proof (set \(Self.list(missing)))"]
        if settings.webRedirectURLs.isEmpty || settings.publicURL == nil {
            var names = [Setting.webRedirectURL]
            if settings.publicURL == nil { names.append(.publicURL) }
            if settings.sealingKeys == nil { names.append(.sealingKeys) }
            parts.append("sign-in in a browser (set \(Self.list(names.map(\.name))))")
        }
        text = "off: \(parts.joined(separator: "; "))"
    }

    private static func list(_ names: [String]) -> String {
        guard let last = names.last, names.count > 1 else { return names.first ?? "" }
        return "\(names.dropLast().joined(separator: ", ")) and \(last)"
    }
}
