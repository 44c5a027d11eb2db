import Encodings

extension JSONReader {
    /// Reads the string at the position.
    mutating func readText() throws(JSONError) -> JSONText {
        guard byte == UInt8(ascii: "\"") else { throw invalid("no string at byte \(position)") }
        position += 1
        let start = position
        position = bytes.withUnsafeBytes { WordScan.endOfPlainASCII(in: $0, from: start) }
        if byte < 0x80 { return try finishText(from: start) }
        position = bytes.withUnsafeBytes { WordScan.endOfPlainText(in: $0, from: position) }
        let text = try finishText(from: start)
        if case .part(let range) = text { try requireUTF8(bytes[range]) }
        return text
    }

    func withBytes<Value>(of text: JSONText, _ body: (UnsafeRawBufferPointer) -> Value) -> Value {
        switch text {
        case .part(let range): bytes.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[range])) }
        case .decoded(let copy): copy.withUnsafeBytes(body)
        }
    }

    /// Called at the first byte that is not plain.
    private mutating func finishText(from start: Int) throws(JSONError) -> JSONText {
        guard position < bytes.count else { throw invalid("unterminated string") }
        switch byte {
        case UInt8(ascii: "\""):
            defer { position += 1 }
            return .part(start..<position)
        case UInt8(ascii: "\\"): return .decoded(try readEscapedString(from: start))
        default: throw controlCharacter(byte)
        }
    }

    private mutating func readEscapedString(from start: Int) throws(JSONError) -> [UInt8] {
        var text = Array(bytes[start..<position])
        while position < bytes.count {
            let byte = bytes[position]
            position += 1
            switch byte {
            case UInt8(ascii: "\""):
                try requireUTF8(text[...])
                return text
            case UInt8(ascii: "\\"):
                try appendEscape(to: &text)
            case 0..<0x20: throw controlCharacter(byte)
            default:
                text.append(byte)
            }
        }
        throw invalid("unterminated string")
    }

    private mutating func appendEscape(to text: inout [UInt8]) throws(JSONError) {
        let escape = byte
        position += 1
        switch escape {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(escape)
        case UInt8(ascii: "b"): text.append(0x08)
        case UInt8(ascii: "f"): text.append(0x0C)
        case UInt8(ascii: "n"): text.append(0x0A)
        case UInt8(ascii: "r"): text.append(0x0D)
        case UInt8(ascii: "t"): text.append(0x09)
        case UInt8(ascii: "u"): text.append(contentsOf: String(try readEscapedScalar()).utf8)
        default: throw invalid("unknown escape")
        }
    }

    private mutating func readEscapedScalar() throws(JSONError) -> Unicode.Scalar {
        var value = try readFourHexDigits()
        if (0xD800..<0xDC00).contains(value) {
            guard byte == UInt8(ascii: "\\") else { throw invalid("lone surrogate") }
            position += 1
            guard byte == UInt8(ascii: "u") else { throw invalid("lone surrogate") }
            position += 1
            let low = try readFourHexDigits()
            guard (0xDC00..<0xE000).contains(low) else { throw invalid("lone surrogate") }
            value = 0x10000 + (value - 0xD800) << 10 + (low - 0xDC00)
        }
        // U+0000 is an error in PostgreSQL and the end of a string in C, so it is refused here.
        guard value != 0 else { throw controlCharacter(0) }
        guard let scalar = Unicode.Scalar(value) else { throw invalid("character not allowed") }
        return scalar
    }

    /// Returns an error for a control character. U+0000 has a separate code, escaped or not, because the
    /// caller must look for the error in its data, not in its JSON.
    private func controlCharacter(_ byte: UInt8) -> JSONError {
        byte == 0
            ? JSONError(.characterNotAllowed, detail: "U+0000 in a string")
            : invalid("control character in a string")
    }

    private mutating func readFourHexDigits() throws(JSONError) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 {
            let digit: UInt8
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = byte - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = byte - UInt8(ascii: "a") + 10
            case UInt8(ascii: "A")...UInt8(ascii: "F"): digit = byte - UInt8(ascii: "A") + 10
            default: throw invalid("bad \\u escape")
            }
            value = value << 4 | UInt32(digit)
            position += 1
        }
        return value
    }

    private func requireUTF8(_ text: ArraySlice<UInt8>) throws(JSONError) {
        guard String(validating: text, as: UTF8.self) != nil else { throw invalid("not UTF-8") }
    }
}

/// The UTF-8 of one string of a document.
enum JSONText {
    /// A range of the document.
    case part(Range<Int>)
    /// A decoded copy, because the string has escapes.
    case decoded([UInt8])
}
