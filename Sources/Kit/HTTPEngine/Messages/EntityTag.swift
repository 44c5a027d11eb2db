import NIOHTTP1

/// Entity tags for responses that callers request repeatedly (RFC 9110 §8.8.3).
package enum EntityTag {
    /// Returns the body and its tag with status 200, or status 304 if the caller already sent this tag.
    ///
    /// The tag depends only on the body, so it is the same on every replica and after every restart.
    package static func response(_ body: [UInt8], unless ifNoneMatch: String?) -> HTTPResponse {
        let tag = tag(of: body)
        var response =
            matches(ifNoneMatch, tag)
            ? HTTPResponse(status: .notModified, contentType: nil, body: []) : HTTPResponse.json(.ok, body)
        response.entityTag = tag
        return response
    }

    /// Returns a hash of the body (FNV-1a, 64 bits). The hash only distinguishes versions of one response, so
    /// it need not resist attacks. Including its quotation marks, the tag is a 15-byte string, which needs no
    /// allocation.
    static func tag(of body: [UInt8]) -> String {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in body { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
        return String(unsafeUninitializedCapacity: 15) { output in
            output[0] = UInt8(ascii: "\"")
            for index in 1...13 {
                let digit = UInt8(truncatingIfNeeded: hash & 31)
                output[index] = digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
                hash >>= 5
            }
            output[14] = UInt8(ascii: "\"")
            return 15
        }
    }

    /// Maximum length in bytes of a header that is compared, which is enough for dozens of our tags. Without
    /// the limit, a client could send a list as long as the whole header section.
    private static let longestList = 1024

    /// Returns true if a tag in the header equals `tag` by weak comparison (RFC 9110 §13.1.2).
    static func matches(_ ifNoneMatch: String?, _ tag: String) -> Bool {
        guard let ifNoneMatch, ifNoneMatch.utf8.count <= longestList else { return false }
        return ifNoneMatch.split(separator: ",").contains { candidate in
            let text = candidate.drop { $0 == " " || $0 == "\t" }.prefix { $0 != " " && $0 != "\t" }
            return text == "*" || text == tag || (text.hasPrefix("W/") && text.dropFirst(2) == tag)
        }
    }
}
