/// A redirect to a client, split into the registered URI and the added parameters.
///
/// The parameters are not decoded, because cases are about their bytes.
struct Location {
    let parameters: [String: String]

    struct Malformed: Error {
        let location: String
    }

    /// Throws unless the location is the URI followed by parameters, none of them twice.
    init(_ location: String, of uri: String) throws {
        let fault = Malformed(location: location)
        let separator = uri.utf8.contains(UInt8(ascii: "?")) ? UInt8(ascii: "&") : UInt8(ascii: "?")
        let rest = location.utf8.dropFirst(uri.utf8.count)
        guard location.utf8.starts(with: uri.utf8), rest.first == separator,
            // Nothing that ends a header field or begins a fragment, and a space only as an escape.
            location.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "#") })
        else { throw fault }
        var parameters: [String: String] = [:]
        for pair in rest.dropFirst().split(separator: UInt8(ascii: "&")) {
            guard let end = pair.firstIndex(of: UInt8(ascii: "=")) else { throw fault }
            let name = String(decoding: pair[..<end], as: UTF8.self)
            let value = String(decoding: pair[end...].dropFirst(), as: UTF8.self)
            guard parameters.updateValue(value, forKey: name) == nil else { throw fault }
        }
        self.parameters = parameters
    }
}

/// Returns true if a text has only the characters of an `error_description` (RFC 6749 §4.1.2.1).
func isDescription(_ text: String) -> Bool {
    !text.isEmpty
        && text.utf8.allSatisfy {
            $0 >= 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\")
        }
}
