import Encodings

/// Percent-encoding (RFC 3986 §2.1), decoded strictly.
package enum PercentEncoding {
    package enum Failure: Error, Equatable {
        /// A broken escape, or bytes that are not UTF-8.
        case malformed
        /// U+0000, which SQLite takes for the end of the text and PostgreSQL refuses.
        case characterNotAllowed
    }

    /// A `+` is a plus sign here, and not a space as in HTML forms.
    package static func decode(_ text: Substring) throws(Failure) -> String {
        guard text.firstIndex(ofASCII: 0) == nil else { throw .characterNotAllowed }
        if text.firstIndex(ofASCII: UInt8(ascii: "%")) == nil { return String(text) }
        var text = String(text)
        return try text.withUTF8 { decode($0, plus: UInt8(ascii: "+")) }.get()
    }

    /// - Parameter plus: The byte into which a `+` is decoded.
    package static func decode(_ bytes: UnsafeBufferPointer<UInt8>, plus: UInt8) -> Result<String, Failure> {
        var (isMalformed, hasZero) = (false, false)
        // A view of the text costs time for each byte, and a text can be as long as a header or a form.
        let decoded = [UInt8](unsafeUninitializedCapacity: bytes.count) { output, count in
            var next = 0
            while next < bytes.count {
                var byte = bytes[next]
                next += 1
                if byte == UInt8(ascii: "%") {
                    guard next + 1 < bytes.count, let high = Hexadecimal.value(of: bytes[next]),
                        let low = Hexadecimal.value(of: bytes[next + 1])
                    else {
                        isMalformed = true
                        return
                    }
                    byte = high << 4 | low
                    next += 2
                } else if byte == UInt8(ascii: "+") {
                    byte = plus
                }
                hasZero = hasZero || byte == 0
                output[count] = byte
                count += 1
            }
        }
        if isMalformed { return .failure(.malformed) }
        if hasZero { return .failure(.characterNotAllowed) }
        return String(validating: decoded, as: UTF8.self).map { .success($0) } ?? .failure(.malformed)
    }

    /// Returns `true` if the text can be part of a query unchanged: it has only characters that RFC 3986 §3.4
    /// allows, and no `&`.
    package static func isQueryText(_ text: Substring) -> Bool {
        queryCharacters.containsAll(of: text)
    }

    private static let queryCharacters = ASCIISet(lettersDigitsAnd: "-._~%!$'()*+,;=:@/?")
}
