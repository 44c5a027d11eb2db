import ArgumentParser
import AuthorizationServer
import HTTPAPI

/// `siwa client texts`
struct ClientTexts: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "texts",
        abstract: "Print the texts of all pages in English, as a file to translate.",
        discussion: """
            Write the output to a file that is named as its language, like fr.yaml, translate the texts, and set \
            oauth.texts_directory to its directory. Keep the names, and the words in braces: they stand for values.
            """)

    func run() {
        print(Self.template)
    }

    /// The file, as YAML. A quoted text of YAML has the escapes of JSON.
    static var template: String {
        var lines = ["# The texts of the pages. Translate them, and keep the names and the words in braces."]
        var open: [Substring] = []
        for (path, text) in TranslationDraft.texts(of: PageTexts.parts) {
            let names = path.split(separator: ".")
            let groups = names.dropLast()
            let common = zip(open, groups).prefix { $0 == $1 }.count
            for level in common..<groups.count {
                lines.append("\(indent(level))\(groups[level]):")
            }
            open = Array(groups)
            lines.append("\(indent(groups.count))\(names[groups.count]): \"\(quoted(text))\"")
        }
        return lines.joined(separator: "\n")
    }

    private static func indent(_ level: Int) -> String { String(repeating: "  ", count: level) }

    private static func quoted(_ text: String) -> String {
        text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
    }
}
