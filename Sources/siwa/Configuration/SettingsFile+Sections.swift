import AuthorizationServer
import Yams

// Reads the sections of the file by the members that their drafts declare.
extension SettingsFile {
    /// Reads a member of a section. A value of the wrong form is a mistake; whether it makes sense is checked
    /// later.
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

    /// Reads texts by language, or one text, which is English.
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
