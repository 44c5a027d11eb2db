import Encodings

/// A piece of HTML. Only its own functions write markup; texts and values are escaped on the way in.
struct Markup: Sendable, Equatable {
    let html: String

    private init(html: String) {
        self.html = html
    }

    /// A text of this service.
    static func text(_ text: String) -> Markup { Markup(html: text.htmlEscaped) }

    /// Returns a value from outside. The value is isolated, so that its direction does not change the text
    /// around it, and its own direction marks end with it (HTML §4.5.24).
    static func value(_ value: String) -> Markup { Markup(html: "<bdi>\(value.htmlEscaped)</bdi>") }

    /// Returns an address of mail, a host, or a URL from outside. A long address can break before its signs, so that
    /// no line ends in the middle of a word while a sign is near.
    static func address(_ value: String) -> Markup {
        Markup(html: "<bdi>\(breakable(value))</bdi>")
    }

    /// A URL to copy, which is read from left to right in every language.
    static func copied(_ url: String) -> Markup {
        Markup(html: "<code class=\"address\" dir=\"ltr\">\(breakable(url))</code>")
    }

    /// The length up to which an address fits into the narrowest line.
    private static let shortAddress = 20

    private static func breakable(_ value: String) -> String {
        guard value.utf8.count > shortAddress else { return value.htmlEscaped }
        var (html, word) = ("", "")
        var previous: Character?
        for character in value {
            if let previous, "@./?&=_".contains(character), !":/".contains(previous) {
                html += word.htmlEscaped + "<wbr>"
                word = ""
            }
            word.append(character)
            previous = character
        }
        return html + word.htmlEscaped
    }

    /// Returns a date or a code, which is read from left to right in every language. Without a letter a value
    /// has no direction of its own.
    static func code(_ value: String) -> Markup {
        Markup(html: "<bdi dir=\"ltr\">\(value.htmlEscaped)</bdi>")
    }

    /// - Parameter url: A URL that this service has made or checked, because a link can also be a script.
    static func link(_ text: Markup, to url: String) -> Markup {
        Markup(html: "<a href=\"\(url.htmlEscaped)\" rel=\"noreferrer\">\(text.html)</a>")
    }

    /// Fills a text of this service with values for its words in braces.
    static func filled(_ template: String, _ values: [String: Markup]) -> Markup {
        Markup(
            html: pieces(of: template).map { piece in
                switch piece {
                case .text(let text): text.htmlEscaped
                case .word(let word): values[word]?.html ?? ""
                }
            }.joined())
    }

    /// Fills a text, and leaves the places of one word open.
    ///
    /// - Parameter frame: Markup before and after the text.
    static func filled(
        _ template: String, _ values: [String: Markup], leaving open: String, in frame: (String, String)
    ) -> TextWithPlaces {
        var parts = [frame.0]
        for piece in pieces(of: template) {
            switch piece {
            case .text(let text): parts[parts.count - 1] += text.htmlEscaped
            case .word(open): parts.append("")
            case .word(let word): parts[parts.count - 1] += values[word]?.html ?? ""
            }
        }
        parts[parts.count - 1] += frame.1
        return TextWithPlaces(parts: parts)
    }

    /// Fills a text without markup.
    static func plain(_ template: String, _ values: [String: String]) -> String {
        pieces(of: template).map { piece in
            switch piece {
            case .text(let text): text
            case .word(let word): values[word] ?? ""
            }
        }.joined()
    }

    private enum Piece {
        case text(String)
        /// A word in braces.
        case word(String)
    }

    private static func pieces(of template: String) -> [Piece] {
        var pieces: [Piece] = []
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

/// Writes a page into one buffer: a string for every part of it would take most of its time.
struct HTMLWriter {
    private(set) var bytes: [UInt8] = []

    init(reservingCapacity capacity: Int) {
        bytes.reserveCapacity(capacity)
    }

    /// - Parameter html: Markup of this service, in which every value is escaped.
    mutating func append(_ html: String) {
        var html = html
        html.withUTF8 { bytes.append(contentsOf: $0) }
    }

    mutating func append(_ html: [UInt8]) { bytes.append(contentsOf: html) }

    /// Writes a text with escapes for the five characters that can begin markup or end an attribute.
    mutating func append(escaping text: String) { bytes.append(escapingHTML: text) }

    /// Writes a value from outside. The value is isolated, so that its direction does not change the text
    /// around it, and its own direction marks end with it (HTML §4.5.24).
    mutating func append(value: String) {
        append("<bdi>")
        append(escaping: value)
        append("</bdi>")
    }

    /// Writes an address from outside, isolated and with places where its line can break.
    mutating func append(address: String) { append(Markup.address(address).html) }

    /// Writes a text with an address at each of its places.
    mutating func append(_ text: TextWithPlaces, address: String) {
        for (index, part) in text.parts.enumerated() {
            if index > 0 { append(address: address) }
            append(part)
        }
    }
}

/// A text of this service around the places of one value, as HTML.
struct TextWithPlaces: Sendable {
    /// The text before, between and after the places.
    let parts: [String]
}
