/// The layout of a command's output: wrapped and in color on a terminal, plain in a pipe or a file.
package struct TextLayout: Sendable {
    /// Styles of ECMA-48, section 8.3.117.
    package enum Style: String, Sendable {
        case strong = "1"
        case faint = "2"
        case good = "32"
        case bad = "1;31"
        case warning = "33"
    }

    package static let plain = TextLayout(columns: nil, hasColors: false)

    /// The smallest number of columns for text beside a head. With
    /// fewer columns the text begins on the next line.
    private static let narrowest = 24
    /// The indentation of text that begins on the next line.
    private static let indent = 4

    /// The columns of the terminal; `nil` if lines are not wrapped.
    package let columns: Int?
    private let hasColors: Bool

    package init(columns: Int?, hasColors: Bool) {
        (self.columns, self.hasColors) = (columns, hasColors)
    }

    package func styled(_ text: String, _ style: Style) -> String {
        hasColors && !text.isEmpty ? "\u{1B}[\(style.rawValue)m\(text)\u{1B}[0m" : text
    }

    /// Returns the lines of a text, each with an indentation. A word that is longer than a
    /// line stays whole, so that users can copy it.
    ///
    /// - Parameters:
    ///   - indent: The indentation of the first line.
    ///   - hanging: The indentation of the other lines.
    package func wrapped(_ text: String, indent: Int = 0, hanging: Int? = nil) -> [String] {
        let margin = String(repeating: " ", count: indent)
        guard let columns else { return [margin + text] }
        let others = String(repeating: " ", count: hanging ?? indent)
        var lines: [String] = []
        var (line, width) = (margin, indent)
        var isEmpty = true
        for word in text.split(separator: " ", omittingEmptySubsequences: false) {
            // A run of spaces separates columns of a text.
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

    /// Returns a head with a text beside it. The lines of the text are aligned.
    ///
    /// - Parameters:
    ///   - head: A text without a style.
    ///   - styled: The same text with styles.
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

    /// Returns a text below the text of a row.
    ///
    /// - Parameter indent: The columns of the head of the row.
    package func beneath(_ indent: Int, _ text: String) -> [String] {
        let isNarrow = columns.map { $0 - indent < Self.narrowest } ?? false
        return wrapped(text, indent: isNarrow ? Self.indent : indent)
    }
}

extension String {
    /// Returns a server's text for a terminal: printable ASCII only, because other characters could move the
    /// cursor or change earlier output. At most `limit` characters.
    package func forTerminal(limit: Int = 200) -> String {
        String(unicodeScalars.prefix(limit).map { (" "..."~").contains($0) ? Character($0) : "?" })
    }
}
