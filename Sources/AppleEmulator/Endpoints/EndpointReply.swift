/// The response of one of Apple's endpoints after a fault has changed it.
struct EndpointReply: Equatable {
    var delayMilliseconds: Int64 = 0
    var cut: ConnectionCut?
    var answer: EndpointAnswer

    /// Applies `fault` to the genuine response.
    init(_ honest: EndpointAnswer, fault: EndpointFault?) {
        answer = honest
        guard let fault else { return }
        delayMilliseconds = fault.delayMilliseconds
        cut = fault.cut
        if let status = fault.status { answer.status = status }
        switch fault.answerKind {
        case .genuine: break
        case .html:
            answer.contentType = "text/html;charset=UTF-8"
            answer.body = Array(Self.errorPage.utf8)
        case .empty: replaceBody("")
        case .oversized: pad()
        case .malformed:
            if honest.body.isEmpty {
                replaceBody(#"{"error":"#)
            } else {
                answer.body = Array(honest.body.prefix(honest.body.count / 2))
            }
        case .unrelated: replaceBody(#"{"error":"server_error"}"#)
        case .noKeys: replaceBody(#"{"keys":[]}"#)
        case .unusableKeys: replaceBody(Self.unusableKeys)
        }
    }

    private mutating func replaceBody(_ text: String) {
        answer.contentType = EndpointAnswer.jsonType
        answer.body = Array(text.utf8)
    }

    /// Pads the body without changing its meaning, so that a client must refuse it only because of its size.
    private mutating func pad() {
        let padding = String(repeating: "x", count: 256 * 1024)
        if answer.body.last == UInt8(ascii: "}"), answer.body != Array("{}".utf8) {
            answer.body.removeLast()
            answer.body += Array(#","padding":"\#(padding)"}"#.utf8)
        } else {
            answer.body += Array("<!--\(padding)-->".utf8)
        }
    }

    private static let errorPage = """
        <!DOCTYPE html>
        <html><head><title>Apple</title></head><body><h1>Service temporarily unavailable</h1></body></html>

        """

    /// The EC key of RFC 7517, appendix A.1, and an RSA key that is too short.
    private static let unusableKeys = """
        {"keys":[{"kty":"EC","crv":"P-256","kid":"ec","use":"sig","alg":"ES256",\
        "x":"MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4",\
        "y":"4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM"},\
        {"kty":"RSA","kid":"short","use":"sig","alg":"RS256","n":"zZ_2cyb7m3Jk8Zqg6Bw5kw","e":"AQAB"}]}
        """
}
