import Encodings
import Pages

// HTML for external values, and for this service's texts with placeholders for such values.
extension HTML {
    /// Returns an external value as HTML. Isolates the value: neither its text direction nor its direction
    /// marks affect the surrounding text (HTML §4.5.24).
    static func value(_ value: String) -> HTML { "<bdi>\(value)</bdi>" }

    /// Returns a date or a code as HTML. Users read both from left to right in every language, but browsers
    /// infer no direction from a value without letters.
    static func leftToRight(_ value: String) -> HTML { "<bdi dir=\"ltr\">\(value)</bdi>" }

    /// Returns an external e-mail address, host or URL as HTML. A long address may break before punctuation,
    /// so it rarely breaks within a word.
    static func address(_ value: String) -> HTML { "<bdi>\(breakable(value))</bdi>" }

    /// Returns the HTML of a URL that users can copy. A URL is read from left to right in every language.
    static func copied(_ url: String) -> HTML {
        "<code class=\"address\" dir=\"ltr\">\(breakable(url))</code>"
    }

    /// Maximum length of an address that always fits on one line.
    private static let shortAddress = 20

    private static func breakable(_ value: String) -> HTML {
        guard value.utf8.count > shortAddress else { return .text(value) }
        var (html, word) = (HTML(), "")
        var previous: Character?
        for character in value {
            if let previous, "@./?&=_".contains(character), !":/".contains(previous) {
                html += "\(word)<wbr>"
                word = ""
            }
            word.append(character)
            previous = character
        }
        return html + .text(word)
    }

    /// - Parameter url: A URL that this service has created or checked, because any other URL could contain a
    ///   script.
    static func reference(_ text: String, to url: String) -> HTML {
        "<a href=\"\(url)\" rel=\"noreferrer\">\(text)</a>"
    }

    /// Replaces the placeholders in one of this service's texts with values.
    static func filled(_ template: String, _ values: [String: HTML]) -> HTML {
        HTML(
            TextPiece.pieces(of: template).map { piece in
                switch piece {
                case .text(let text): .text(text)
                case .word(let word): values[word] ?? HTML()
                }
            })
    }
}

/// One of this service's texts, with one placeholder still open.
struct TextWithPlaces: Sendable {
    /// The parts of the text before, between and after the open placeholders.
    private var parts = [HTML()]

    /// Replaces all placeholders except the placeholder named `open`.
    init(_ template: String, _ values: [String: HTML] = [:], leaving open: String) {
        for piece in TextPiece.pieces(of: template) {
            switch piece {
            case .text(let text): parts[parts.count - 1] += .text(text)
            case .word(open): parts.append(HTML())
            case .word(let word): parts[parts.count - 1] += values[word] ?? HTML()
            }
        }
    }

    func within(_ start: HTML, _ end: HTML) -> TextWithPlaces {
        var text = self
        text.parts[0] = start + parts[0]
        text.parts[parts.count - 1] += end
        return text
    }

    /// Returns the text with an address in place of each open placeholder.
    func filled(with address: String) -> HTML { parts.joined(separator: .address(address)) }
}

/// A piece of a text that can contain placeholders in braces.
enum TextPiece {
    case text(String)
    /// The name of a placeholder in braces.
    case word(String)

    /// Replaces the placeholders in a text without markup.
    static func filled(_ template: String, _ values: [String: String]) -> String {
        pieces(of: template).map { piece in
            switch piece {
            case .text(let text): text
            case .word(let word): values[word] ?? ""
            }
        }.joined()
    }

    static func pieces(of template: String) -> [TextPiece] {
        var pieces: [TextPiece] = []
        var rest = template.utf8[...]
        while let open = rest.firstIndex(of: UInt8(ascii: "{")),
            let close = rest[open...].firstIndex(of: UInt8(ascii: "}"))
        {
            pieces.append(.text(String(Substring(rest[..<open]))))
            pieces.append(.word(String(Substring(rest[rest.index(after: open)..<close]))))
            rest = rest[rest.index(after: close)...]
        }
        return pieces + [.text(String(Substring(rest)))]
    }
}
