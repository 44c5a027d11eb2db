import HTTPEngine

/// The field `Authorization` with a Bearer token (RFC 6750 §2.1), for every endpoint that takes one.
///
/// The case of the scheme is ignored, and so is white space around the token: RFC 9110 §11.4 allows several spaces
/// after the scheme. Reading allocates nothing.
struct BearerField {
    /// The token, unchecked; can be empty.
    let token: Substring

    /// Returns `nil` for another scheme.
    init?(_ authorization: String) {
        let bytes = authorization.utf8
        guard RequestFields.areEqual(Substring(bytes.prefix(7)), "bearer ") else { return nil }
        var token = bytes.dropFirst(7).drop(while: Self.isSpace)
        while let last = token.last, Self.isSpace(last) { token.removeLast() }
        self.token = Substring(token)
    }

    private static func isSpace(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t")
    }
}
