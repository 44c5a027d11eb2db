/// The target of a request (RFC 9112 §3.2), taken apart.
struct RequestTarget {
    /// As received, still percent-encoded.
    let path: Substring
    let query: Substring?

    init(_ text: String) {
        var rest = text[...]
        // A proxy may send the absolute form, and every server must take it.
        if rest.utf8.first != UInt8(ascii: "/"), let scheme = rest.firstRange(of: "://") {
            let authority = rest[scheme.upperBound...]
            rest = authority.firstIndex(of: "/").map { authority[$0...] } ?? "/"
        }
        guard let mark = rest.utf8.firstIndex(of: UInt8(ascii: "?")) else {
            (path, query) = (rest, nil)
            return
        }
        path = rest[..<mark]
        query = rest[rest.utf8.index(after: mark)...]
    }
}
