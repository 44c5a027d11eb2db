import Foundation

/// Everything that is wrong with a configuration, at once, so that it takes one try to put it right.
///
/// A mistake names the setting and what it should be. It never repeats a value, because a value can be a secret: a name of a
/// file is repeated only when it cannot be anything else.
struct ConfigurationMistakes: Error, CustomStringConvertible {
    private(set) var list: [String] = []

    var isEmpty: Bool { list.isEmpty }

    mutating func add(_ setting: String, _ complaint: String) {
        list.append("\(setting): \(complaint)")
    }

    /// A path to name in a mistake: of a file that is there, or an absolute one of a single line. `nil` for other text, which
    /// can be a key that was put where its file's name belongs.
    static func place(_ path: String) -> String? {
        guard path.utf8.count <= 512, path.allSatisfy({ !$0.isNewline }) else { return nil }
        return path.hasPrefix("/") || FileManager.default.fileExists(atPath: path) ? path : nil
    }

    var description: String {
        let count = list.count == 1 ? "one mistake" : "\(list.count) mistakes"
        return "The configuration has \(count):\n" + list.map { "  - \($0)" }.joined(separator: "\n")
    }
}
