import Foundation

/// The section of `docs/linking.md` that is followed line by line: pages to open, buttons to press, lines to
/// paste.
struct TryItSection: Sendable {
    enum Action: Sendable, Equatable {
        case open(String)
        /// Bold words.
        case press(String)
        /// A block of a shell.
        case paste(String)
    }

    struct Line: Sendable, Equatable {
        /// Number in the list of steps; 0 before the list.
        let step: Int
        let action: Action
    }

    let lines: [Line]

    init() throws {
        let file = PythonTools.root.appendingPathComponent("docs/linking.md")
        let page = try String(contentsOf: file, encoding: .utf8)
        let section = page.components(separatedBy: "## Try it\n").last?.components(separatedBy: "\n## ").first
        var lines: [Line] = []
        var step = 0
        let marks = #/(?ms)^(\d+)\. |^ *```sh\n(.*?)```|\*\*(.+?)\*\*|(http://127\.0\.0\.1:\d+)/#
        for match in (section ?? "").matches(of: marks) {
            if let number = match.1 { step = Int(number) ?? step }
            if let code = match.2 { lines.append(Line(step: step, action: .paste(String(code)))) }
            if let label = match.3 {
                let words = label.split(whereSeparator: \.isWhitespace).joined(separator: " ")
                lines.append(Line(step: step, action: .press(words)))
            }
            if let url = match.4 { lines.append(Line(step: step, action: .open(String(url)))) }
        }
        self.lines = lines
    }
}
