/// The `state` of a request, which goes back to the client as it came (RFC 6749 §4.1.2).
public struct RequestState: Sendable, Hashable {
    /// As it stands in a query.
    let encoded: String

    /// In bytes, as it stands in a query.
    public static let longest = 4096

    /// - Parameter query: The value as it stood in a query. It is not decoded, so that it goes back byte for
    ///   byte. Returns `nil` for an empty value, one that is too long, or bytes that no query has.
    init?(query: some Collection<UInt8>) {
        guard (1...Self.longest).contains(query.count),
            query.allSatisfy({ $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "&") && $0 != UInt8(ascii: "#") })
        else { return nil }
        encoded = String(decoding: query, as: UTF8.self)
    }

    /// - Parameter text: The value itself, from a form or from JSON. Returns `nil` when it is empty, or too
    ///   long when it is encoded.
    init?(text: String) {
        guard (1...Self.longest).contains(text.utf8.count) else { return nil }
        encoded = QueryText.encode(text)
        guard encoded.utf8.count <= Self.longest else { return nil }
    }
}
