/// A piece of HTML. Only its own functions write markup; texts and values are escaped on the way in.
struct Markup: Sendable, Equatable {
    let html: String

    private init(html: String) {
        self.html = html
    }

    /// A text of this service.
    static func text(_ text: String) -> Markup { Markup(html: text.htmlEscaped) }

    /// A value from outside. It is isolated, so that its direction does not change the text around it, and
    /// marks for directions in it end with it (HTML §4.5.24).
    static func value(_ value: String) -> Markup { Markup(html: "<bdi>\(value.htmlEscaped)</bdi>") }

    /// - Parameter url: One that this service has made or checked, because a link can also be a script.
    static func link(_ text: Markup, to url: String) -> Markup {
        Markup(html: "<a href=\"\(url.htmlEscaped)\" rel=\"noreferrer\">\(text.html)</a>")
    }

    /// A text of this service, with values for its words in braces.
    static func filled(_ template: String, _ values: [String: Markup]) -> Markup {
        Markup(html: replacingWords(in: template, text: \.htmlEscaped) { values[$0]?.html ?? "" })
    }

    /// The same as plain text.
    static func plain(_ template: String, _ values: [String: String]) -> String {
        replacingWords(in: template, text: \.self) { values[$0] ?? "" }
    }

    /// Goes through the bytes: to find the ends of characters takes most of the time of a page.
    private static func replacingWords(
        in template: String, text: (String) -> String, word: (String) -> String
    ) -> String {
        var replaced = ""
        var rest = template.utf8[...]
        while let open = rest.firstIndex(of: UInt8(ascii: "{")),
            let close = rest[open...].firstIndex(of: UInt8(ascii: "}"))
        {
            replaced += text(String(Substring(rest[..<open])))
            replaced += word(String(Substring(rest[rest.index(after: open)..<close])))
            rest = rest[rest.index(after: close)...]
        }
        return replaced + text(String(Substring(rest)))
    }
}

extension String {
    /// The text with escapes for the five characters that can begin markup or end an attribute.
    var htmlEscaped: String {
        // Most texts have none of them.
        guard utf8.contains(where: { $0.escape != nil }) else { return self }
        var escaped: [UInt8] = []
        escaped.reserveCapacity(utf8.count + 32)
        for byte in utf8 {
            if let escape = byte.escape {
                escaped.append(contentsOf: escape.utf8)
            } else {
                escaped.append(byte)
            }
        }
        return String(decoding: escaped, as: UTF8.self)
    }
}

extension UInt8 {
    /// The bytes of other characters are never one of these in UTF-8.
    fileprivate var escape: String? {
        switch self {
        case UInt8(ascii: "&"): "&amp;"
        case UInt8(ascii: "<"): "&lt;"
        case UInt8(ascii: ">"): "&gt;"
        case UInt8(ascii: "\""): "&quot;"
        case UInt8(ascii: "'"): "&#39;"
        default: nil
        }
    }
}
