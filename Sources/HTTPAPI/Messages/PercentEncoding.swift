/// Percent-encoding (RFC 3986 §2.1), decoded strictly.
enum PercentEncoding {
    enum Failure: Error, Equatable {
        /// A broken escape, or bytes that are not UTF-8.
        case malformed
        /// U+0000, which SQLite takes for the end of the text and PostgreSQL refuses.
        case characterNotAllowed
    }

    /// A `+` is a plus sign here, and not a space as in HTML forms.
    static func decode(_ text: Substring) throws(Failure) -> String {
        guard text.firstIndex(ofASCII: 0) == nil else { throw .characterNotAllowed }
        if text.firstIndex(ofASCII: UInt8(ascii: "%")) == nil { return String(text) }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count)
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard let high = rest.popFirst().flatMap(digit), let low = rest.popFirst().flatMap(digit) else {
                throw .malformed
            }
            bytes.append(high << 4 | low)
        }
        guard !bytes.contains(0) else { throw .characterNotAllowed }
        guard let text = String(validating: bytes, as: UTF8.self) else { throw .malformed }
        return text
    }

    /// Whether the text can be part of a query as it is: it has only characters that RFC 3986 §3.4 allows,
    /// and no `&`.
    static func isQueryText(_ text: Substring) -> Bool {
        queryCharacters.containsAll(of: text)
    }

    private static let queryCharacters = ASCIISet(lettersDigitsAnd: "-._~%!$'()*+,;=:@/?")

    private static func digit(_ byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
