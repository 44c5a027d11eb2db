import Testing

/// A URL that a client is sent back to, split into the registered URI and what was added to it.
///
/// The parameters are not decoded, because cases are about their bytes.
struct Location {
    let parameters: [String: String]

    /// Requires that the location is the URI with parameters behind it, none of them twice.
    init(_ location: String, of uri: String) throws {
        try #require(location.utf8.starts(with: uri.utf8))
        let rest = location.utf8.dropFirst(uri.utf8.count)
        let separator = uri.utf8.contains(UInt8(ascii: "?")) ? UInt8(ascii: "&") : UInt8(ascii: "?")
        try #require(rest.first == separator)
        // Nothing that ends a header field or begins a fragment, and a space only as an escape.
        #expect(location.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "#") })
        var parameters: [String: String] = [:]
        for pair in rest.dropFirst().split(separator: UInt8(ascii: "&")) {
            let end = try #require(pair.firstIndex(of: UInt8(ascii: "=")))
            let name = String(decoding: pair[..<end], as: UTF8.self)
            let value = String(decoding: pair[end...].dropFirst(), as: UTF8.self)
            #expect(parameters.updateValue(value, forKey: name) == nil)
        }
        self.parameters = parameters
    }
}

/// Whether a text has only the characters of an `error_description` (RFC 6749 §4.1.2.1).
func isDescription(_ text: String) -> Bool {
    !text.isEmpty
        && text.utf8.allSatisfy {
            $0 >= 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\")
        }
}
