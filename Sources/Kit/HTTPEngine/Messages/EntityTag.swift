import NIOHTTP1

/// Entity tags for responses that callers request repeatedly (RFC 9110 §8.8.3).
package enum EntityTag {
    /// Responds with 200, the body and its tag, or with 304 when the caller sent that tag.
    ///
    /// The tag depends on the body only, so that it is the same on every replica and after every restart.
    package static func response(_ body: [UInt8], unless ifNoneMatch: String?) -> HTTPResponse {
        let tag = tag(of: body)
        var response =
            matches(ifNoneMatch, tag)
            ? HTTPResponse(status: .notModified, contentType: nil, body: []) : HTTPResponse.json(.ok, body)
        response.entityTag = tag
        return response
    }

    /// A hash of the body (FNV-1a, 64 bits). The hash distinguishes versions of one response and protects
    /// nothing, so it need not resist attacks. With its quotation marks it is a string of 15 bytes, which
    /// needs no allocation.
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

    /// Largest number of bytes of the field that are compared: dozens of
    /// our tags. The field can be as long as a header.
    private static let longestList = 1024

    /// Returns true if a tag in the field equals `tag` in the weak comparison (RFC 9110 §13.1.2).
    static func matches(_ ifNoneMatch: String?, _ tag: String) -> Bool {
        guard let ifNoneMatch, ifNoneMatch.utf8.count <= longestList else { return false }
        return ifNoneMatch.split(separator: ",").contains { candidate in
            let text = candidate.drop { $0 == " " || $0 == "\t" }.prefix { $0 != " " && $0 != "\t" }
            return text == "*" || text == tag || (text.hasPrefix("W/") && text.dropFirst(2) == tag)
        }
    }
}
