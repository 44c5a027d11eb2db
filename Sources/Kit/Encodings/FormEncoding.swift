/// `application/x-www-form-urlencoded` (URL Standard §5), the format of OAuth requests and query strings.
package enum FormEncoding {
    /// Percent-encodes all characters except the unreserved characters of RFC 3986 §2.3. A space becomes
    /// `%20`, so the result is correct in a path, in a query and in a form.
    package static func escape(_ text: String) -> String {
        var escaped: [UInt8] = []
        escaped.reserveCapacity(text.utf8.count)
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
                UInt8(ascii: "_"), UInt8(ascii: "~"):
                escaped.append(byte)
            default:
                escaped.append(UInt8(ascii: "%"))
                escaped.append(digits[Int(byte >> 4)])
                escaped.append(digits[Int(byte & 15)])
            }
        }
        return String(decoding: escaped, as: UTF8.self)
    }

    package static func encode(_ fields: [(name: String, value: String)]) -> String {
        fields.map { "\(escape($0.name))=\(escape($0.value))" }.joined(separator: "&")
    }

    /// Decodes the fields of a form in order. The result keeps repeated fields, so that the caller can refuse
    /// them.
    ///
    /// Returns `nil` for a broken escape, U+0000, invalid UTF-8, or more than `limit` fields. Skips empty
    /// pairs, such as the pair between two adjacent `&`.
    package static func decode(
        _ text: some Collection<UInt8>, limit: Int = 64
    ) -> [(name: String, value: String)]? {
        var fields: [(name: String, value: String)] = []
        for pair in text.split(separator: UInt8(ascii: "&")) {
            let name = pair.prefix { $0 != UInt8(ascii: "=") }
            guard fields.count < limit, let decodedName = unescape(name),
                let value = unescape(pair.dropFirst(name.count + 1))
            else { return nil }
            fields.append((decodedName, value))
        }
        return fields
    }

    private static func unescape(_ text: some Collection<UInt8>) -> String? {
        var bytes: [UInt8] = []
        var rest = text.makeIterator()
        while let byte = rest.next() {
            switch byte {
            case UInt8(ascii: "+"): bytes.append(UInt8(ascii: " "))
            case UInt8(ascii: "%"):
                guard let high = rest.next().flatMap(Hexadecimal.value),
                    let low = rest.next().flatMap(Hexadecimal.value)
                else {
                    return nil
                }
                bytes.append(high << 4 | low)
            default: bytes.append(byte)
            }
        }
        guard !bytes.contains(0) else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }

    private static let digits = Array("0123456789ABCDEF".utf8)
}

/// Writes a query string (RFC 3986 §3.4). The output contains only unreserved characters and escapes, with
/// `%20` for a space, so a value can neither add a parameter nor end a header field.
package struct QueryText {
    package private(set) var text = ""

    package init() {}

    package mutating func append(_ name: StaticString, _ value: String) {
        append(name, encoded: Self.encode(value))
    }

    /// Appends a parameter whose value is already percent-encoded.
    package mutating func append(_ name: StaticString, encoded value: String) {
        if !text.isEmpty { text += "&" }
        text += "\(name)=\(value)"
    }

    /// Returns the URI with these parameters appended. Any existing query in the URI stays unchanged (RFC
    /// 6749 §3.1.2).
    package func appended(to uri: String) -> String {
        guard let mark = uri.utf8.firstIndex(of: UInt8(ascii: "?")) else { return "\(uri)?\(text)" }
        let isOpen = uri.utf8.index(after: mark) == uri.endIndex || uri.utf8.last == UInt8(ascii: "&")
        return isOpen ? uri + text : "\(uri)&\(text)"
    }

    package static func encode(_ value: String) -> String { FormEncoding.escape(value) }
}
