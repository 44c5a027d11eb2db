/// Writes a query (RFC 3986 §3.4). Its output has only unreserved characters and escapes, a space as `%20`, so that a
/// value can neither add a parameter nor end a header field.
package struct QueryText {
    package private(set) var text = ""

    package init() {}

    package mutating func append(_ name: StaticString, _ value: String) {
        append(name, encoded: Self.encode(value))
    }

    /// Appends a value that is percent-encoded already.
    package mutating func append(_ name: StaticString, encoded value: String) {
        if !text.isEmpty { text += "&" }
        text += "\(name)=\(value)"
    }

    /// Returns the URI with these parameters after its own query, which stays unchanged (RFC 6749 §3.1.2).
    package func appended(to uri: String) -> String {
        guard let mark = uri.utf8.firstIndex(of: UInt8(ascii: "?")) else { return "\(uri)?\(text)" }
        let isOpen = uri.utf8.index(after: mark) == uri.endIndex || uri.utf8.last == UInt8(ascii: "&")
        return isOpen ? uri + text : "\(uri)&\(text)"
    }

    package static func encode(_ value: String) -> String { FormEncoding.escape(value) }
}
