import Foundation

/// All mistakes of a configuration, so that they can be corrected together.
///
/// A mistake names the setting and the expected value. It never repeats the configured value, which can be a
/// secret. A file name is repeated only when the text is certainly a file name.
struct ConfigurationMistakes: Error, CustomStringConvertible {
    private(set) var list: [String] = []

    var isEmpty: Bool { list.isEmpty }

    mutating func add(_ setting: String, _ errorText: String) {
        list.append("\(setting): \(errorText)")
    }

    /// Returns the mistakes that name one of the settings.
    func about(_ settings: [String]) -> ConfigurationMistakes {
        var mistakes = ConfigurationMistakes()
        mistakes.list = list.filter { mistake in settings.contains { mistake.contains($0) } }
        return mistakes
    }

    /// Returns a path that may be repeated in a mistake: the path of an existing file, or an absolute path of
    /// one line. Returns `nil` for any other text, which can be a key in place of its file name.
    static func place(_ path: String) -> String? {
        guard path.utf8.count <= 512, path.allSatisfy({ !$0.isNewline }) else { return nil }
        return path.hasPrefix("/") || FileManager.default.fileExists(atPath: path) ? path : nil
    }

    var description: String {
        let count = list.count == 1 ? "one mistake" : "\(list.count) mistakes"
        return "The configuration has \(count):\n" + list.map { "  - \($0)" }.joined(separator: "\n")
    }
}
