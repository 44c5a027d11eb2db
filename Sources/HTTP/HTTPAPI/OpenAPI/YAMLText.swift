import HTTPEngine
import StrictJSON

/// Writes a JSON value as YAML 1.2 in block style. Writes a string without quotation marks only if no YAML
/// reader can read it as another type.
struct YAMLText {
    /// Maximum length of a mapping or list on one line, in bytes.
    private static let longestFlow = 100

    private var text = ""

    static func document(_ object: JSONObject) -> String {
        var yaml = YAMLText()
        yaml.members(of: object, indent: 0)
        return yaml.text
    }

    private mutating func members(of object: JSONObject, indent: Int) {
        for (name, value) in object.members {
            text += String(repeating: " ", count: indent) + Self.scalar(name, isKey: true) + ":"
            write(value, indent: indent + 2)
        }
    }

    /// Writes a value after a key or a dash.
    private mutating func write(_ value: JSONValue, indent: Int) {
        let margin = String(repeating: " ", count: indent)
        if case .string(let string) = value, Self.isBlock(string) {
            text += " |-\n"
            for line in string.split(separator: "\n", omittingEmptySubsequences: false) {
                text += line.isEmpty ? "\n" : "\(margin)\(line)\n"
            }
            return
        }
        let flow = Self.flow(value)
        if flow.utf8.count <= Self.longestFlow || !Self.hasMembers(value) {
            text += " \(flow)\n"
            return
        }
        text += "\n"
        switch value {
        case .object(let object): members(of: object, indent: indent)
        case .array(let elements):
            for element in elements {
                text += "\(margin)-"
                write(element, indent: indent + 2)
            }
        case .null, .bool, .integer, .number, .string: break
        }
    }

    /// Returns `true` for a multi-line text that a literal block preserves exactly (YAML 1.2.2 §8.1.2).
    private static func isBlock(_ string: String) -> Bool {
        string.contains("\n") && !string.hasPrefix(" ") && !string.hasPrefix("\n") && !string.hasSuffix("\n")
            && !string.contains(" \n") && string.unicodeScalars.allSatisfy { $0 == "\n" || $0.value >= 0x20 }
    }

    private static func hasMembers(_ value: JSONValue) -> Bool {
        switch value {
        case .object, .array: true
        case .null, .bool, .integer, .number, .string: false
        }
    }

    private static func flow(_ value: JSONValue) -> String {
        switch value {
        case .null: "null"
        case .bool(let bool): "\(bool)"
        case .integer(let number): "\(number)"
        case .number(let number): number
        case .string(let string): scalar(string)
        case .array(let elements): "[\(elements.map(flow).joined(separator: ", "))]"
        case .object(let object) where object.members.isEmpty: "{}"
        case .object(let object):
            "{ \(object.members.map { "\(scalar($0.name)): \(flow($0.value))" }.joined(separator: ", ")) }"
        }
    }

    /// Returns a string in plain or double-quoted style. The double-quoted style uses JSON escapes.
    ///
    /// - Parameter isKey: True for a key in a block mapping, which may contain braces.
    private static func scalar(_ string: String, isKey: Bool = false) -> String {
        isPlain(string, in: isKey ? plainInKeys : plain)
            ? string : String(decoding: JSONValue.string(string).serialized(), as: UTF8.self)
    }

    /// Plain words that YAML 1.1 or 1.2 reads as another type.
    private static let typed: Set<String> = ["true", "false", "yes", "no", "on", "off", "null", "y", "n"]

    private static func isPlain(_ string: String, in plain: ASCIISet) -> Bool {
        // YAML readers could read a string that begins with a digit as a number.
        guard let first = string.first, first == "/" || first.isLetter, string.last != " " else {
            return false
        }
        return string.utf8.allSatisfy(plain.contains) && !typed.contains(string.lowercased())
    }

    private static let plain = ASCIISet(lettersDigitsAnd: " ._-/'()+;=")
    private static let plainInKeys = ASCIISet(lettersDigitsAnd: " ._-/'()+;={}")
}
