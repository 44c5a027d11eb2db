import JOSE

/// What one request for `/auth/keys` is to be answered, faults included. The shell carries it out.
struct KeySetReply: Equatable {
    var delayMilliseconds: Int64 = 0
    var cut: ConnectionCut?
    var status = 200
    var contentType: String? = "application/json;charset=UTF-8"
    var cacheControl: String?
    var entityTag: String?
    var body: [UInt8] = []

    /// The honest answer, spoiled by `fault`.
    ///
    /// - Parameter ifNoneMatch: the header as received (RFC 9110 §13.1.2).
    init(
        to document: KeySetDocument, ifNoneMatch: String?, cacheControl: String?, sendsEntityTag: Bool,
        fault: EndpointFault?
    ) {
        self.cacheControl = fault?.cacheControl ?? cacheControl
        delayMilliseconds = fault?.delayMilliseconds ?? 0
        cut = fault?.cut
        status = fault?.status ?? 200
        let answer = fault?.body ?? (fault?.status == nil ? .genuine : .html)
        if answer == .genuine, sendsEntityTag, fault?.hidesEntityTag != true {
            entityTag = document.entityTag
            if status == 200, let ifNoneMatch, Self.matches(ifNoneMatch, document.entityTag) {
                status = 304
                contentType = nil
                return
            }
        }
        switch answer {
        case .genuine: body = document.serialized()
        case .html:
            contentType = "text/html;charset=UTF-8"
            body = Array(Self.errorPage.utf8)
        case .empty: body = []
        case .oversized: body = document.serialized(padding: 256 * 1024)
        case .malformed: body = Array(document.serialized().dropLast(40))
        case .unrelated: body = Array(#"{"error":"server_error"}"#.utf8)
        case .noKeys: body = Array(#"{"keys":[]}"#.utf8)
        case .unusableKeys: body = Array(Self.unusableKeys.utf8)
        }
    }

    /// Weak comparison (RFC 9110 §8.8.3.2). No tag of ours has a comma in it.
    private static func matches(_ ifNoneMatch: String, _ entityTag: String) -> Bool {
        ifNoneMatch.split(separator: ",").contains { candidate in
            let tag = candidate.drop { $0 == " " || $0 == "\t" }.prefix { $0 != " " && $0 != "\t" }
            return tag == "*" || opaque(tag) == opaque(entityTag[...])
        }
    }

    private static func opaque(_ tag: Substring) -> Substring {
        tag.hasPrefix("W/") ? tag.dropFirst(2) : tag
    }

    private static let errorPage = """
        <!DOCTYPE html>
        <html><head><title>Apple</title></head><body><h1>Service temporarily unavailable</h1></body></html>

        """

    /// The EC key of RFC 7517, appendix A.1, and an RSA key that is far too short.
    private static let unusableKeys = """
        {"keys":[{"kty":"EC","crv":"P-256","kid":"ec","use":"sig","alg":"ES256",\
        "x":"MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4",\
        "y":"4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM"},\
        {"kty":"RSA","kid":"short","use":"sig","alg":"RS256","n":"zZ_2cyb7m3Jk8Zqg6Bw5kw","e":"AQAB"}]}
        """
}
