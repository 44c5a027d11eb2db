/// Writes a query (RFC 3986 §3.4).
struct QueryText {
    private(set) var text = ""

    /// Appends a value as unreserved characters and escapes, a space as `%20`. So the value can neither add a
    /// parameter nor end a header field.
    mutating func append(_ name: StaticString, _ value: String) {
        append(name, encoded: Self.encode(value))
    }

    /// Appends a value that is encoded already.
    mutating func append(_ name: StaticString, encoded value: String) {
        if !text.isEmpty { text += "&" }
        text += "\(name)=\(value)"
    }

    /// Returns the URI with these parameters after its own query, which stays unchanged (RFC 6749 §3.1.2).
    func appended(to uri: String) -> String {
        guard uri.utf8.contains(UInt8(ascii: "?")) else { return "\(uri)?\(text)" }
        let isOpen = uri.utf8.last == UInt8(ascii: "?") || uri.utf8.last == UInt8(ascii: "&")
        return isOpen ? uri + text : "\(uri)&\(text)"
    }

    static func encode(_ value: String) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(value.utf8.count)
        for byte in value.utf8 {
            if byte.isUnreserved {
                bytes.append(byte)
            } else {
                bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
