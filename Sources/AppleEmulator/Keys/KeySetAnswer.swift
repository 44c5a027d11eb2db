/// Builds the response to a request for `/auth/keys`, before a fault changes it.
enum KeySetAnswer {
    /// - Parameters:
    ///   - ifNoneMatch: The header as received (RFC 9110 §13.1.2). The response is 304 when it matches the
    ///     current set.
    ///   - entityTag: Whether the response has an `ETag`.
    static func make(
        _ document: KeySetDocument, ifNoneMatch: String?, cacheControl: String?, entityTag isSent: Bool
    ) -> EndpointAnswer {
        var answer = EndpointAnswer(contentType: EndpointAnswer.jsonType)
        if let cacheControl { answer.headers.append(.init(name: "Cache-Control", value: cacheControl)) }
        if isSent {
            let tag = document.entityTag
            answer.headers.append(.init(name: "ETag", value: tag))
            if let ifNoneMatch, matches(ifNoneMatch, tag) {
                answer.status = 304
                answer.contentType = nil
                return answer
            }
        }
        answer.body = document.serialized()
        return answer
    }

    /// Weak comparison (RFC 9110 §8.8.3.2). The emulator's tags contain no commas.
    private static func matches(_ ifNoneMatch: String, _ entityTag: String) -> Bool {
        ifNoneMatch.split(separator: ",").contains { candidate in
            let tag = candidate.drop { $0 == " " || $0 == "\t" }.prefix { $0 != " " && $0 != "\t" }
            return tag == "*" || opaque(tag) == opaque(entityTag[...])
        }
    }

    private static func opaque(_ tag: Substring) -> Substring {
        tag.hasPrefix("W/") ? tag.dropFirst(2) : tag
    }
}
