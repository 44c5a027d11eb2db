import AuthorizationServer
import Yams

// The section `oauth` of the file. Its values are checked by `OAuthSettings`; here only their types are.
//
// ```yaml
// oauth:
//   issuer: https://signin.example.com   # by default SIWA_PUBLIC_URL; its host is the same
//   scopes:
//     - name: devices.read
//       text: {en: See your devices, tr: Cihazlarını gör}
//       optional: true
//   clients:
//     - id: google
//       kind: google_linking
//       app: com.example.app
//       …                                  # siwa client new prints the rest
// ```
extension SettingsFile {
    mutating func readOAuth(_ node: Node) {
        guard let mapping = node.mapping else {
            return mistakes.add(Self.line(node) + "oauth", "must be a mapping")
        }
        let known = [
            "issuer", "session_lifetime", "scopes", "clients", "allow_accounts_without_apple",
            "native_refresh_token_limit",
        ]
        for (name, node) in members(of: mapping, allowing: known, at: "oauth") {
            let path = "oauth.\(name)"
            switch name {
            case "issuer": oauth.issuer = scalar(node, at: path)
            case "session_lifetime": oauth.sessionLifetime = seconds(node, at: path)
            case "allow_accounts_without_apple":
                oauth.allowsAccountsWithoutApple = flag(node, at: path) ?? false
            case "native_refresh_token_limit": oauth.nativeRefreshTokenLimit = number(node, at: path)
            case "scopes": for node in elements(node, at: path) { readScope(node, at: path) }
            default: for node in elements(node, at: path) { readClient(node, at: path) }
            }
        }
    }

    private mutating func readScope(_ node: Node, at path: String) {
        guard let mapping = node.mapping else {
            return mistakes.add(Self.line(node) + path, "each scope is a mapping")
        }
        var scope = ScopeDraft(name: "")
        for (name, node) in members(of: mapping, allowing: ["name", "text", "optional"], at: path) {
            let path = "\(path).\(name)"
            switch name {
            case "name": scope.name = scalar(node, at: path) ?? ""
            case "text": scope.text = texts(node, at: path)
            default: scope.isOptional = flag(node, at: path) ?? false
            }
        }
        oauth.scopes.append(scope)
    }

    private mutating func readClient(_ node: Node, at path: String) {
        guard let mapping = node.mapping else {
            return mistakes.add(Self.line(node) + path, "each client is a mapping")
        }
        var client = ClientDraft(id: "", kind: "", app: "", name: [:])
        let known = OAuthClientMember.allCases.map(\.rawValue)
        for (name, node) in members(of: mapping, allowing: known, at: path) {
            guard let member = OAuthClientMember(rawValue: name) else { continue }
            read(member, of: &client, from: node, at: "\(path).\(name)")
        }
        oauth.clients.append(client)
    }

    private mutating func read(
        _ member: OAuthClientMember, of client: inout ClientDraft, from node: Node, at path: String
    ) {
        switch member {
        case .id: client.id = scalar(node, at: path) ?? ""
        case .kind: client.kind = scalar(node, at: path) ?? ""
        case .app: client.app = scalar(node, at: path) ?? ""
        case .name: client.name = texts(node, at: path)
        case .purpose: client.purpose = texts(node, at: path)
        case .firstParty: client.isFirstParty = flag(node, at: path)
        case .secretHashes: client.secretHashes = list(node, at: path) ?? []
        case .scopes: client.scopes = list(node, at: path) ?? []
        case .redirectURIs: client.redirectURIs = list(node, at: path) ?? []
        case .audience: client.audience = scalar(node, at: path)
        case .accessTokenAlgorithm: client.accessTokenAlgorithm = scalar(node, at: path)
        case .idTokenAlgorithm: client.idTokenAlgorithm = scalar(node, at: path)
        case .maxAuthenticationAge: client.maxAuthenticationAge = seconds(node, at: path)
        case .codeLifetime: client.codeLifetime = seconds(node, at: path)
        case .accessTokenLifetime: client.accessTokenLifetime = seconds(node, at: path)
        case .refreshTokenIdleLifetime: client.refreshTokenIdleLifetime = seconds(node, at: path)
        case .refreshTokenLifetime: client.refreshTokenLifetime = seconds(node, at: path)
        case .refreshTokenLimit: client.refreshTokenLimit = number(node, at: path)
        case .platform: client.platform = scalar(node, at: path)
        case .allowPlainPKCE: client.allowsPlainPKCE = flag(node, at: path)
        case .allowLocalhost: client.allowsLocalhost = flag(node, at: path)
        case .requirePKCE: client.requiresPKCE = flag(node, at: path)
        case .projectID: client.projectID = scalar(node, at: path)
        case .googleClientIDs: client.googleClientIDs = list(node, at: path) ?? []
        case .appFlip: client.appFlip = flag(node, at: path)
        case .appFlipBundleIDs: client.appFlipBundleIDs = list(node, at: path) ?? []
        case .appFlipLinkPaths: client.appFlipLinkPaths = list(node, at: path) ?? []
        case .appFlipTestRedirectURIs: client.appFlipTestRedirectURIs = list(node, at: path) ?? []
        }
    }

    /// Reads texts by language, or one text, which is English.
    mutating func texts(_ node: Node, at path: String) -> [String: String] {
        if let scalar = node.scalar { return ["en": scalar.string] }
        guard let mapping = node.mapping else {
            mistakes.add(Self.line(node) + path, "must be a text, or a mapping of languages to texts")
            return [:]
        }
        var texts: [String: String] = [:]
        for (key, node) in mapping {
            guard let language = key.scalar?.string else { continue }
            texts[language] = scalar(node, at: "\(path).\(language)")
        }
        return texts
    }

    private mutating func flag(_ node: Node, at path: String) -> Bool? {
        switch node.scalar?.string {
        case "true": return true
        case "false": return false
        default:
            mistakes.add(Self.line(node) + path, "must be true or false")
            return nil
        }
    }

    private mutating func seconds(_ node: Node, at path: String) -> Int64? {
        number(node, at: path, of: " of seconds")
    }

    private mutating func number(_ node: Node, at path: String, of unit: String = "") -> Int64? {
        if let text = node.scalar?.string, let number = Int64(text) { return number }
        mistakes.add(Self.line(node) + path, "must be a whole number\(unit)")
        return nil
    }
}

/// The members of an entry of `oauth.clients`, as the file names them.
enum OAuthClientMember: String, CaseIterable {
    case id, kind, app, name, purpose
    case firstParty = "first_party"
    case secretHashes = "secret_hashes"
    case scopes
    case redirectURIs = "redirect_uris"
    case audience
    case accessTokenAlgorithm = "access_token_algorithm"
    case idTokenAlgorithm = "id_token_algorithm"
    case maxAuthenticationAge = "max_authentication_age"
    case codeLifetime = "code_lifetime"
    case accessTokenLifetime = "access_token_lifetime"
    case refreshTokenIdleLifetime = "refresh_token_idle_lifetime"
    case refreshTokenLifetime = "refresh_token_lifetime"
    case refreshTokenLimit = "refresh_token_limit"
    case platform
    case allowPlainPKCE = "allow_plain_pkce"
    case allowLocalhost = "allow_localhost"
    case requirePKCE = "require_pkce"
    case projectID = "project_id"
    case googleClientIDs = "google_client_ids"
    case appFlip = "app_flip"
    case appFlipBundleIDs = "app_flip_bundle_ids"
    case appFlipLinkPaths = "app_flip_link_paths"
    case appFlipTestRedirectURIs = "app_flip_test_redirect_uris"
}
