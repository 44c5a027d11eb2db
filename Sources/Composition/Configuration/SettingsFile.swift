import AuthorizationServer
import Configuration
import Foundation
package import Yams

/// A service's YAML configuration file. It is required for several teams, several apps, or limited API keys.
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
/// `Sections` documents the `oauth` section.
///
/// All other settings have the lower-case names of their environment variables. A value in the environment
/// takes precedence over the file. An unknown name, or a value of the wrong type, is a mistake.
package struct SettingsFile: FileConfigSnapshot {
    struct ParsingOptions: FileParsingOptions {
        static let `default` = ParsingOptions()
    }

    let providerName: String
    private(set) var values: [String: String] = [:]
    private(set) var sections = Sections.empty
    /// The parts of all sections, by name and in canonical form, to detect changes since the last start.
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

    package var description: String { "\(providerName)[\(values.count) values]" }
    /// Omits the values, which can be secrets, so that debuggers do not show them either.
    package var debugDescription: String { description }

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

    /// Returns the members with known names. Adds a mistake for every other member.
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

    /// Checks the text in the same way as an environment variable.
    mutating func trimmed(_ text: String, of node: Node, at path: String) -> String {
        // The lines of a PEM text end with line breaks.
        guard path != Setting.privateKey.nameInFile else { return text }
        return mistakes.trimmed(text, of: Self.line(node) + path)
    }

    mutating func scalar(_ node: Node, at path: String) -> String? {
        if let scalar = node.scalar { return trimmed(scalar.string, of: node, at: path) }
        mistakes.add(Self.line(node) + path, "must be a single value")
        return nil
    }

    /// Reads a list of values. A single value is read as a list with one value.
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

// Reads the file's sections, with the members that their drafts declare.
extension SettingsFile {
    /// Reads a section's member. Adds a mistake for a value of the wrong type. Later checks validate the
    /// content.
    mutating func read<Draft: SectionDraft>(
        _ member: DraftMember<Draft>, of draft: inout Draft, from node: Node, at path: String
    ) {
        switch member.content {
        case .value(let value): read(value, of: &draft, from: node, at: path)
        case .section(let part): read(part, of: &draft, from: node, at: path, expecting: "must be a mapping")
        case .sections(let part, let noun):
            for node in elements(node, at: path) {
                read(part, of: &draft, from: node, at: path, expecting: "each \(noun) is a mapping")
            }
        }
    }

    private mutating func read<Part: DraftPart>(
        _ part: Part, of draft: inout Part.Whole, from node: Node, at path: String, expecting text: String
    ) {
        guard let mapping = node.mapping else { return mistakes.add(Self.line(node) + path, text) }
        var section = Part.Part.empty
        let known = Part.Part.members
        for (name, node) in members(of: mapping, allowing: known.map(\.name), at: path) {
            guard let member = known.first(where: { $0.name == name }) else { continue }
            read(member, of: &section, from: node, at: "\(path).\(name)")
        }
        part.add(section, to: &draft)
    }

    private mutating func read<Draft>(
        _ value: DraftValue<Draft>, of draft: inout Draft, from node: Node, at path: String
    ) {
        switch value {
        case .text(let place), .word(let place): draft[keyPath: place] = scalar(node, at: path) ?? ""
        case .optionalText(let place), .optionalWord(let place, _):
            draft[keyPath: place] = scalar(node, at: path)
        case .texts(let place): draft[keyPath: place] = texts(node, at: path)
        case .list(let place, _): draft[keyPath: place] = list(node, at: path) ?? []
        case .optionalList(let place): draft[keyPath: place] = list(node, at: path)
        case .flag(let place, _): draft[keyPath: place] = flag(node, at: path)
        case .number(let place, _, .seconds, _), .optionalSeconds(let place, _):
            draft[keyPath: place] = number(node, at: path, of: " of seconds")
        case .number(let place, _, .refreshTokens, _): draft[keyPath: place] = number(node, at: path)
        }
    }

    /// Reads texts by language. A single text is read as English.
    private mutating func texts(_ node: Node, at path: String) -> [String: String] {
        if let scalar = node.scalar { return ["en": trimmed(scalar.string, of: node, at: path)] }
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

    private mutating func number(_ node: Node, at path: String, of unit: String = "") -> Int64? {
        if let text = node.scalar?.string, let number = Int64(text) { return number }
        mistakes.add(Self.line(node) + path, "must be a whole number\(unit)")
        return nil
    }
}

extension SettingsFile {
    /// The list sections, each with the noun for an entry and the member that identifies an entry. API keys
    /// are separate parts, because both the file and the environment can contain them.
    private static let lists = [
        "teams": ("team", "team_id"), "webhooks": ("webhook", "name"),
        "oauth.clients": ("oauth_client", "id"), "oauth.scopes": ("oauth_scope", "name"),
    ]

    /// Returns a section's parts. A part's text does not depend on the order of its members.
    static func parts(ofSection name: String, _ node: Node) -> [String: String] {
        var parts: [String: String] = [:]
        if let (noun, member) = lists[name] {
            for entry in node.sequence ?? [] {
                let id = entry.mapping?[Node(member)]?.scalar?.string ?? "?"
                parts["\(noun) \(id)"] = spelling(of: entry)
            }
        } else if let mapping = node.mapping, name == "oauth" {
            for (key, value) in mapping {
                let member = "\(name).\(key.scalar?.string ?? "?")"
                if lists[member] != nil {
                    parts.merge(Self.parts(ofSection: member, value)) { first, _ in first }
                } else {
                    parts["setting \(member)"] = spelling(of: value)
                }
            }
        }
        return parts
    }

    /// Returns a node's canonical text. Nodes with equal content have equal texts.
    private static func spelling(of node: Node) -> String {
        if let mapping = node.mapping {
            let members = mapping.map { "\(spelling(of: $0)):\(spelling(of: $1))" }
            return "{\(members.sorted().joined(separator: ","))}"
        }
        if let sequence = node.sequence {
            return "[\(sequence.map(spelling).joined(separator: ","))]"
        }
        let text = node.scalar?.string ?? ""
        return "\(text.utf8.count)\"\(text)\""
    }
}

extension SettingsFile {
    /// Returns the reason why a file cannot be used: it does not exist, cannot be read, or is not YAML. The
    /// reason repeats no file content.
    static func errorText(for path: String, _ error: any Error) -> String {
        let place = ConfigurationMistakes.place(path).map { "\($0): " } ?? ""
        var isDirectory: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) else {
            return "\(place)there is no such file"
        }
        guard !isDirectory.boolValue else { return "\(place)is a directory; a YAML file is expected" }
        guard let error = error as? YamlError else {
            return "\(place)cannot be read by this user; check its owner and mode"
        }
        return "\(place)\(words(for: error))"
    }

    /// Returns a node's line number as text, such as "line 3: ".
    static func line(_ node: Node) -> String {
        node.mark.map { "line \($0.line): " } ?? ""
    }

    /// Returns a text that describes the fault in a file that is not YAML.
    package static func words(for error: YamlError) -> String {
        switch error {
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
            .composer(_, let problem, let mark, _):
            // This is libyaml's message, which does not repeat the content.
            "line \(mark.line), column \(mark.column): is not YAML: \(problem)"
        case .reader(_, let offset, _, _):
            "is not YAML: no UTF-8 text" + (offset.map { " at byte \($0)" } ?? "")
        case .duplicatedKeysInMapping(_, let context):
            "line \(context.mark.line): has a name twice in one mapping"
        default: "is not YAML"
        }
    }
}
