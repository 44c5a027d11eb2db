import Encodings
import Pages

// Values from outside, and texts of this service with placeholders for them.
extension HTML {
    /// Returns a value from outside. The value is isolated, so that its direction does not change the
    /// surrounding text, and its direction marks end with the value (HTML §4.5.24).
    static func value(_ value: String) -> HTML { "<bdi>\(value)</bdi>" }

    /// Returns a date or a code, which is read from left to right in
    /// every language. A value without letters has no own direction.
    static func leftToRight(_ value: String) -> HTML { "<bdi dir=\"ltr\">\(value)</bdi>" }

    /// Returns an e-mail address, a host, or a URL from outside. A long address can break before its
    /// punctuation, so that lines rarely end in the middle of a word.
    static func address(_ value: String) -> HTML { "<bdi>\(breakable(value))</bdi>" }

    /// A URL to copy, which is read from left to right in every language.
    static func copied(_ url: String) -> HTML {
        "<code class=\"address\" dir=\"ltr\">\(breakable(url))</code>"
    }

    /// Longest address that fits into the narrowest line.
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

    /// - Parameter url: A URL that this service has made or checked, because a link can also be a script.
    static func reference(_ text: String, to url: String) -> HTML {
        "<a href=\"\(url)\" rel=\"noreferrer\">\(text)</a>"
    }

    /// Fills a text of this service with values for its words in braces.
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

/// A text of this service with placeholders for one value.
struct TextWithPlaces: Sendable {
    /// The text before, between and after the placeholders.
    private var parts = [HTML()]

    /// Fills a text, except for the placeholders of one word.
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

    /// Returns the text with an address in each placeholder.
    func filled(with address: String) -> HTML { parts.joined(separator: .address(address)) }
}

/// A part of a text with words in braces.
enum TextPiece {
    case text(String)
    /// A word in braces.
    case word(String)

    /// Fills a text without markup.
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
