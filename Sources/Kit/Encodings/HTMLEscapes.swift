extension [UInt8] {
    /// Appends a string, with escapes for the five characters that can begin markup or end an attribute.
    package mutating func append(escapingHTML text: String) {
        var text = text
        text.withUTF8 { text in
            var start = 0
            for index in text.indices {
                // In UTF-8, no other character contains one of these five bytes, so comparing bytes is safe.
                let escape: StaticString
                switch text[index] {
                case UInt8(ascii: "&"): escape = "&amp;"
                case UInt8(ascii: "<"): escape = "&lt;"
                case UInt8(ascii: ">"): escape = "&gt;"
                case UInt8(ascii: "\""): escape = "&quot;"
                case UInt8(ascii: "'"): escape = "&#39;"
                default: continue
                }
                append(contentsOf: text[start..<index])
                escape.withUTF8Buffer { append(contentsOf: $0) }
                start = index + 1
            }
            append(contentsOf: text[start...])
        }
    }
}

extension String {
    /// The text with escapes for the five characters that can begin markup or end an attribute.
    package var htmlEscaped: String {
        var escaped: [UInt8] = []
        escaped.reserveCapacity(utf8.count + 32)
        escaped.append(escapingHTML: self)
        return String(decoding: escaped, as: UTF8.self)
    }
}
