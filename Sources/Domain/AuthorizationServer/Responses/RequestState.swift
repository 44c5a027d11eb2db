import Encodings

/// The `state` of a request, which goes back to the client unchanged (RFC 6749 §4.1.2).
public struct RequestState: Sendable, Hashable {
    /// The value as encoded in a query.
    let encoded: String

    /// Bound in bytes of the encoded value.
    public static let longest = 4096

    /// - Parameter query: The encoded value from a query. It is not decoded, so that it goes back byte for
    ///   byte. Returns `nil` for an empty value, a value above the bound, or bytes that no query has.
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
