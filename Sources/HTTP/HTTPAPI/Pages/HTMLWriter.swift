import Encodings

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
