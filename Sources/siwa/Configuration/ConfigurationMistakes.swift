/// Everything that is wrong with a configuration, at once, so that it takes one try to put it right.
///
/// A mistake names the setting and what it should be. It never repeats a value, because a value can be a secret.
struct ConfigurationMistakes: Error, CustomStringConvertible {
    private(set) var list: [String] = []

    var isEmpty: Bool { list.isEmpty }

    mutating func add(_ setting: String, _ complaint: String) {
        list.append("\(setting): \(complaint)")
    }

    var description: String {
        let count = list.count == 1 ? "one mistake" : "\(list.count) mistakes"
        return "The configuration has \(count):\n" + list.map { "  - \($0)" }.joined(separator: "\n")
    }
}
