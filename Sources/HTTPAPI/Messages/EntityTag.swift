import JOSE
import NIOHTTP1

/// Entity tags for answers that callers ask for again and again (RFC 9110 §8.8.3).
enum EntityTag {
    /// 200 with the body and its tag, or 304 when the caller names that tag.
    ///
    /// The tag is made of the body's digest, so that it is the same on every replica and after every restart.
    static func answer(_ body: [UInt8], unless ifNoneMatch: String?) -> Answer {
        let tag = "\"" + Base64URL.encode(SHA256Digest.hash(body).prefix(12)) + "\""
        var answer =
            matches(ifNoneMatch, tag)
            ? Answer(status: .notModified, contentType: nil, body: []) : Answer.json(.ok, body)
        answer.entityTag = tag
        return answer
    }

    /// The weak comparison of RFC 9110 §13.1.2.
    static func matches(_ ifNoneMatch: String?, _ tag: String) -> Bool {
        guard let ifNoneMatch else { return false }
        return ifNoneMatch.split(separator: ",").contains { candidate in
            let text = candidate.drop { $0 == " " || $0 == "\t" }.prefix { $0 != " " && $0 != "\t" }
            return text == "*" || text == tag || (text.hasPrefix("W/") && text.dropFirst(2) == tag)
        }
    }
}
