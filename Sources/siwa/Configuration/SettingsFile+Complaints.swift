import Foundation
import Yams

extension SettingsFile {
    /// Why a file could not be taken: it is not there, it cannot be read, or it is no YAML. Nothing of its content is repeated.
    static func complaint(about path: String, _ error: any Error) -> String {
        let place = ConfigurationMistakes.place(path).map { "\($0): " } ?? ""
        var isDirectory: ObjCBool = false
        guard FileManager.default.fileExists(atPath: path, isDirectory: &isDirectory) else {
            return "\(place)there is no such file"
        }
        guard !isDirectory.boolValue else { return "\(place)is a directory, and must be a YAML file" }
        guard let error = error as? YamlError else {
            return "\(place)cannot be read by this user; see who owns it, and its mode"
        }
        return "\(place)\(words(for: error))"
    }

    /// "line 3: ", where a node begins.
    static func line(_ node: Node) -> String {
        node.mark.map { "line \($0.line): " } ?? ""
    }

    private static func words(for error: YamlError) -> String {
        switch error {
        case .scanner(_, let problem, let mark, _), .parser(_, let problem, let mark, _),
            .composer(_, let problem, let mark, _):
            // libyaml's own words, which repeat nothing.
            "line \(mark.line), column \(mark.column): is not YAML: \(problem)"
        case .reader(_, let offset, _, _):
            "is not YAML: no UTF-8 text" + (offset.map { " at byte \($0)" } ?? "")
        case .duplicatedKeysInMapping(_, let context):
            "line \(context.mark.line): has a name twice in one mapping"
        default: "is not YAML"
        }
    }
}
