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
        let question = UInt8(ascii: "?")
        let length = rest.utf8.withContiguousStorageIfAvailable { $0.firstIndex(of: question) ?? $0.count }
        let mark =
            length.map { rest.utf8.index(rest.startIndex, offsetBy: $0) }
            ?? rest.utf8.firstIndex(of: question) ?? rest.endIndex
        path = rest[..<mark]
        query = mark < rest.endIndex ? rest[rest.utf8.index(after: mark)...] : nil
    }
}
