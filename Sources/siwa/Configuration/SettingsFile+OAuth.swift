import AuthorizationServer
import Yams

// The section `oauth` of the file. `OAuthSettings` checks the values; this reader checks only their types.
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
            case "clients": for node in elements(node, at: path) { readClient(node, at: path) }
            default: preconditionFailure("\(path) is known and not read")
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
            case "optional": scope.isOptional = flag(node, at: path) ?? false
            default: preconditionFailure("\(path) is known and not read")
            }
        }
        oauth.scopes.append(scope)
    }

    private mutating func readClient(_ node: Node, at path: String) {
        guard let mapping = node.mapping else {
            return mistakes.add(Self.line(node) + path, "each client is a mapping")
        }
        var client = ClientDraft(id: "", kind: "", app: "", name: [:])
        let known = ClientMember.all.map(\.name)
        for (name, node) in members(of: mapping, allowing: known, at: path) {
            guard let member = ClientMember.named(name) else { continue }
            read(member, of: &client, from: node, at: "\(path).\(name)")
        }
        oauth.clients.append(client)
    }

    private mutating func read(
        _ member: ClientMember, of client: inout ClientDraft, from node: Node, at path: String
    ) {
        switch member.value {
        case .text(let place), .word(let place): client[keyPath: place] = scalar(node, at: path) ?? ""
        case .optionalText(let place), .optionalWord(let place):
            client[keyPath: place] = scalar(node, at: path)
        case .texts(let place): client[keyPath: place] = texts(node, at: path)
        case .list(let place): client[keyPath: place] = list(node, at: path) ?? []
        case .flag(let place): client[keyPath: place] = flag(node, at: path)
        case .seconds(let place): client[keyPath: place] = seconds(node, at: path)
        case .number(let place): client[keyPath: place] = number(node, at: path)
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
