/// Layout of a command's output. On a terminal, lines wrap and have colors; in a pipe or file, text is plain.
package struct TextLayout: Sendable {
    /// ECMA-48 text styles (section 8.3.117).
    package enum Style: String, Sendable {
        case strong = "1"
        case faint = "2"
        case good = "32"
        case bad = "1;31"
        case warning = "33"
    }

    package static let plain = TextLayout(columns: nil, hasColors: false)

    /// Minimum width in columns for text beside a row head. With less space, the text begins on the next
    /// line.
    private static let narrowest = 24
    /// Indentation of text that begins on the next line.
    private static let indent = 4

    /// Terminal width in columns; `nil` if lines do not wrap.
    package let columns: Int?
    private let hasColors: Bool

    package init(columns: Int?, hasColors: Bool) {
        (self.columns, self.hasColors) = (columns, hasColors)
    }

    package func styled(_ text: String, _ style: Style) -> String {
        hasColors && !text.isEmpty ? "\u{1B}[\(style.rawValue)m\(text)\u{1B}[0m" : text
    }

    /// Wraps text into indented lines. A word longer than a line stays whole, so that users can copy it.
    ///
    /// - Parameters:
    ///   - indent: Indentation of the first line.
    ///   - hanging: Indentation of the other lines.
    package func wrapped(_ text: String, indent: Int = 0, hanging: Int? = nil) -> [String] {
        let margin = String(repeating: " ", count: indent)
        guard let columns else { return [margin + text] }
        let others = String(repeating: " ", count: hanging ?? indent)
        var lines: [String] = []
        var (line, width) = (margin, indent)
        var isEmpty = true
        for word in text.split(separator: " ", omittingEmptySubsequences: false) {
            // Tables separate their columns with runs of spaces, so the split keeps empty words.
            if !isEmpty, width + 1 + word.count > columns {
                lines.append(line)
                (line, width, isEmpty) = (others, others.count, true)
            }
            if isEmpty, word.isEmpty { continue }
            line += (isEmpty ? "" : " ") + word
            width += (isEmpty ? 0 : 1) + word.count
            isEmpty = false
        }
        return lines + [line]
    }

    /// Returns a row head with text beside it. All lines of the text begin in the same column.
    ///
    /// - Parameters:
    ///   - head: The row head without styles.
    ///   - styled: The same head with styles.
    package func row(_ head: String, styled: String, _ text: String) -> [String] {
        guard let columns else { return [head + text] }
        guard columns - head.count >= Self.narrowest else {
            var end = styled[...]
            while end.last == " " { end = end.dropLast() }
            return [String(end)] + wrapped(text, indent: Self.indent)
        }
        let lines = wrapped(text, indent: head.count)
        return [styled + lines[0].dropFirst(head.count)] + lines.dropFirst()
    }

    /// Returns text aligned with the text of the row above it.
    ///
    /// - Parameter indent: Width of the row head in columns.
    package func beneath(_ indent: Int, _ text: String) -> [String] {
        let isNarrow = columns.map { $0 - indent < Self.narrowest } ?? false
        return wrapped(text, indent: isNarrow ? Self.indent : indent)
    }
}

extension String {
    /// Returns text from a server as printable ASCII of at most `limit` characters, because other characters
    /// could move the terminal's cursor or change earlier output.
    package func forTerminal(limit: Int = 200) -> String {
        String(unicodeScalars.prefix(limit).map { (" "..."~").contains($0) ? Character($0) : "?" })
    }
}
