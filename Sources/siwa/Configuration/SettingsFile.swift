import AuthorizationServer
import Configuration
import Foundation
import Yams

/// The YAML file of a service with several teams, apps or limited API keys.
///
/// ```yaml
/// siwa_host: 0.0.0.0
/// database_url: sqlite:///var/lib/siwa/siwa.sqlite
/// teams:
///   - team_id: A1B2C3D4E5
///     key_id: K1L2M3N4O5
///     private_key_file: /run/secrets/AuthKey_K1L2M3N4O5.p8   # or a directory of such files
///     apps:
///       - client_ids: [com.example.app, com.example.pro]   # the first is the primary App ID
///         services_ids: [com.example.web]   # browsers sign in with the first
///         web_redirect_url: https://example.com/signed-in
///         name: {en: Example, tr: Örnek}   # on the pages of OAuth clients
///         app_attest:
///           - bundle_id: com.example.app
///             app_check: monitored          # off, monitored or enforced
///       - client_ids: [com.example.watch]
/// api_keys:
///   - name: backend
///     hash: PUT-THE-HASH-HERE            # siwa api-key --name backend
///   - name: watch-backend
///     hash: PUT-THE-HASH-HERE
///     apps: [com.example.watch]     # limits the key; without it, all apps
///   - name: olga
///     hash: PUT-THE-HASH-HERE
///     roles: [operator]             # signs in at the console; without it, backend
/// webhooks:
///   - name: backend
///     url: https://backend.example.com/siwa
///     events: [credential_revoked, account_erased]   # without it, all events
///     apps: [com.example.app]       # without it, all apps
///     secret_files: [/run/secrets/webhook]           # two during a rotation
///     private_networks: [10.0.5.0/24]                # without it, public addresses only
/// ```
/// The section `oauth` is described beside `Sections`.
///
/// Every other setting has the name of its environment variable in lower case. A value in the environment
/// takes precedence. An unknown name is a mistake, and so is a value of the wrong type.
struct SettingsFile: FileConfigSnapshot {
    struct ParsingOptions: FileParsingOptions {
        static let `default` = ParsingOptions()
    }

    let providerName: String
    private(set) var values: [String: String] = [:]
    private(set) var sections = Sections.empty
    /// The parts of the sections in one spelling each, by name, to find what changed since the last start.
    private(set) var parts: [String: String] = [:]
    var mistakes = ConfigurationMistakes()

    init(data: RawSpan, providerName: String, parsingOptions: ParsingOptions) throws {
        self.providerName = providerName
        var bytes = Data()
        for index in data.byteOffsets { bytes.append(data.unsafeLoad(fromByteOffset: index, as: UInt8.self)) }
        guard let root = try Parser(yaml: bytes).singleRoot() else { return }
        guard let mapping = root.mapping else {
            mistakes.add(Self.line(root) + "the file", "must be a mapping of names to values")
            return
        }
        read(mapping)
    }

    func value(forKey key: AbsoluteConfigKey, type: ConfigType) throws -> LookupResult {
        let name = key.components.joined(separator: "_")
        return LookupResult(
            encodedKey: name, value: values[name].map { ConfigValue(.string($0), isSecret: false) })
    }

    var description: String { "\(providerName)[\(values.count) values]" }
    /// Values can be secrets, so they do not appear in a debugger either.
    var debugDescription: String { description }

    private mutating func read(_ mapping: Node.Mapping) {
        let known = Setting.ofFile.map(\.nameInFile) + Sections.members.map(\.name)
        var sections = Sections.empty
        for (name, node) in members(of: mapping, allowing: known, at: "") {
            if let section = Sections.members.first(where: { $0.name == name }) {
                read(section, of: &sections, from: node, at: name)
                parts.merge(Self.parts(ofSection: name, node)) { first, _ in first }
            } else {
                values[name] = list(node, at: name)?.joined(separator: ",")
            }
        }
        self.sections = sections
    }

    /// Returns the members of known names. Others are mistakes.
    mutating func members(
        of mapping: Node.Mapping, allowing known: [String], at path: String
    ) -> [(String, Node)] {
        var members: [(String, Node)] = []
        for (key, node) in mapping {
            guard let name = key.scalar?.string, known.contains(name) else {
                let name = key.scalar?.string ?? "?"
                let nearest = NearestName.of(name, among: known, inListNamed: path) ?? ""
                mistakes.add(
                    Self.line(key) + (path.isEmpty ? name : "\(path).\(name)"),
                    "is not known; did you mean \(nearest)?")
                continue
            }
            members.append((name, node))
        }
        return members
    }

    mutating func elements(_ node: Node, at path: String) -> [Node] {
        if let sequence = node.sequence { return Array(sequence) }
        mistakes.add(Self.line(node) + path, "must be a list")
        return []
    }

    /// The same check as for a variable of the environment.
    mutating func trimmed(_ text: String, of node: Node, at path: String) -> String {
        // The lines of a PEM end with line ends.
        guard path != Setting.privateKey.nameInFile else { return text }
        return mistakes.trimmed(text, of: Self.line(node) + path)
    }

    mutating func scalar(_ node: Node, at path: String) -> String? {
        if let scalar = node.scalar { return trimmed(scalar.string, of: node, at: path) }
        mistakes.add(Self.line(node) + path, "must be a single value")
        return nil
    }

    /// Reads a list of values, or a single value.
    mutating func list(_ node: Node, at path: String) -> [String]? {
        if let scalar = node.scalar { return [trimmed(scalar.string, of: node, at: path)] }
        let values = elements(node, at: path).compactMap { element in
            element.scalar.map { trimmed($0.string, of: element, at: path) }
        }
        if values.count != node.sequence?.count {
            mistakes.add(Self.line(node) + path, "must be a list of single values")
        }
        return values
    }
}
