import Foundation
import Yams

extension SettingsFile {
    /// Returns why a file cannot be used: it does not exist, cannot be read, or is not YAML. The text repeats
    /// nothing of the file's content.
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

    /// The line where a node begins, as "line 3: ".
    static func line(_ node: Node) -> String {
        node.mark.map { "line \($0.line): " } ?? ""
    }

    /// Returns what is wrong with a file that is not YAML.
    static func words(for error: YamlError) -> String {
        switch error {
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
            .composer(_, let problem, let mark, _):
            // libyaml's message, which does not repeat content.
            "line \(mark.line), column \(mark.column): is not YAML: \(problem)"
        case .reader(_, let offset, _, _):
            "is not YAML: no UTF-8 text" + (offset.map { " at byte \($0)" } ?? "")
        case .duplicatedKeysInMapping(_, let context):
            "line \(context.mark.line): has a name twice in one mapping"
        default: "is not YAML"
        }
    }
}
