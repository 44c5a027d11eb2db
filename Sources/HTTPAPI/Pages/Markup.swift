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
        var html = ""
        var rest = template[...]
        while let open = rest.firstIndex(of: "{"), let close = rest[open...].firstIndex(of: "}") {
            html += String(rest[..<open]).htmlEscaped
            let name = String(rest[rest.index(after: open)..<close])
            html += values[name]?.html ?? ""
            rest = rest[rest.index(after: close)...]
        }
        return Markup(html: html + String(rest).htmlEscaped)
    }
}

extension String {
    /// The text with escapes for the five characters that can begin markup or end an attribute.
    var htmlEscaped: String {
        var escaped = ""
        escaped.reserveCapacity(utf8.count)
        for character in unicodeScalars {
            switch character {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "'": escaped += "&#39;"
            default: escaped.unicodeScalars.append(character)
            }
        }
        return escaped
    }
}
