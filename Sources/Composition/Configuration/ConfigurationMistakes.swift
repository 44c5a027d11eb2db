import Foundation

/// All mistakes in a configuration, collected so that the operator can correct them together.
///
/// A mistake names the setting and the expected value, but does not repeat the configured value, because it
/// can be a secret. It repeats a file name only if the text is certainly a file name.
package struct ConfigurationMistakes: Error, CustomStringConvertible {
    package private(set) var list: [String] = []

    package init() {}

    var isEmpty: Bool { list.isEmpty }

    package mutating func add(_ setting: String, _ errorText: String) {
        list.append("\(setting): \(errorText)")
    }

    /// Returns a value without invisible characters at either end: white space, control characters and byte
    /// order marks. Such a character is a mistake, because it changes the value: a database name with a
    /// trailing line break would name a new, empty database.
    mutating func trimmed(_ value: String, of setting: String) -> String {
        let scalars = value.unicodeScalars
        for (scalar, verb) in [(scalars.first, "begins"), (scalars.last, "ends")] {
            guard let scalar, Self.isInvisible(scalar) else { continue }
            add(setting, "\(verb) with \(Self.name(of: scalar)), which belongs to the value here; remove it")
        }
        let visible = scalars.drop(while: Self.isInvisible)
        guard let last = visible.lastIndex(where: { !Self.isInvisible($0) }) else { return "" }
        return String(visible[...last])
    }

    private static func isInvisible(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .spaceSeparator, .lineSeparator, .paragraphSeparator: true
        default: false
        }
    }

    private static func name(of scalar: Unicode.Scalar) -> String {
        switch scalar {
        case "\n": return "a line end"
        case "\r": return "a carriage return"
        case "\t": return "a tab"
        case " ": return "a space"
        case "\u{FEFF}": return "a byte order mark"
        default:
            let digits = String(scalar.value, radix: 16, uppercase: true)
            return "U+" + String(repeating: "0", count: max(0, 4 - digits.count)) + digits
        }
    }

    /// Returns the mistakes about these settings.
    func about(_ settings: [String]) -> ConfigurationMistakes {
        var mistakes = ConfigurationMistakes()
        mistakes.list = list.filter { mistake in settings.contains { mistake.contains($0) } }
        return mistakes
    }

    /// Returns a path if a mistake may repeat it: an existing file's path, or an absolute path on one line.
    /// Returns `nil` for any other text, because it can be a key that was set in place of its file name.
    static func place(_ path: String) -> String? {
        guard path.utf8.count <= 512, path.allSatisfy({ !$0.isNewline }) else { return nil }
        return path.hasPrefix("/") || FileManager.default.fileExists(atPath: path) ? path : nil
    }

    package var description: String {
        let count = list.count == 1 ? "one mistake" : "\(list.count) mistakes"
        return "The configuration has \(count):\n" + list.map { "  - \($0)" }.joined(separator: "\n")
    }
}

/// Finds the known name that is most similar to a misspelled name.
package enum NearestName {
    /// Returns the candidate with the smallest edit distance; the first if there are several.
    package static func of(_ name: String, among candidates: [String]) -> String? {
        candidates.min { distance(name, $0) < distance(name, $1) }
    }

    /// Finds the most similar name for a member of a list entry.
    ///
    /// Some programs prefix the member with the entry's noun, such as `client_id` for a client's `id`. By
    /// edit distance alone, `client_id` would be more similar to `project_id`.
    ///
    /// - Parameter path: The list's path, such as `oauth.clients`.
    static func of(_ name: String, among candidates: [String], inListNamed path: String) -> String? {
        let list = path.split(separator: ".").last ?? ""
        let prefix = "\(list.hasSuffix("s") ? list.dropLast() : list)_"
        guard !list.isEmpty, name.hasPrefix(prefix), name.count > prefix.count else {
            return of(name, among: candidates)
        }
        let member = String(name.dropFirst(prefix.count))
        let meant = candidates.first { $0 == member } ?? candidates.first { $0.hasPrefix("\(member)_") }
        return meant ?? of(name, among: candidates)
    }

    /// Returns the Levenshtein distance between two texts.
    static func distance(_ lhs: String, _ rhs: String) -> Int {
        let (lhs, rhs) = (Array(lhs.utf8), Array(rhs.utf8))
        var row = Array(0...rhs.count)
        for (i, left) in lhs.enumerated() {
            var diagonal = row[0]
            row[0] = i + 1
            for (j, right) in rhs.enumerated() {
                let substitution = diagonal + (left == right ? 0 : 1)
                diagonal = row[j + 1]
                row[j + 1] = min(substitution, row[j] + 1, diagonal + 1)
            }
        }
        return row[rhs.count]
    }
}
