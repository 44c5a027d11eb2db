/// The response of one of Apple's endpoints after a fault has changed it.
struct FaultyResponse: Equatable {
    var delayMilliseconds: Int64 = 0
    var cut: ConnectionCut?
    var response: EndpointResponse

    /// Applies `fault` to the genuine response.
    init(_ genuine: EndpointResponse, fault: EndpointFault?) {
        response = genuine
        guard let fault else { return }
        delayMilliseconds = fault.delayMilliseconds
        cut = fault.cut
        if let status = fault.status { response.status = status }
        switch fault.bodyKind {
        case .genuine: break
        case .html:
            response.contentType = "text/html;charset=UTF-8"
            response.body = Array(Self.errorPage.utf8)
        case .empty: replaceBody("")
        case .oversized: pad()
        case .malformed:
            if genuine.body.isEmpty {
                replaceBody(#"{"error":"#)
            } else {
                response.body = Array(genuine.body.prefix(genuine.body.count / 2))
            }
        case .unrelated: replaceBody(#"{"error":"server_error"}"#)
        case .noKeys: replaceBody(#"{"keys":[]}"#)
        case .unusableKeys: replaceBody(Self.unusableKeys)
        }
    }

    private mutating func replaceBody(_ text: String) {
        response.contentType = EndpointResponse.jsonType
        response.body = Array(text.utf8)
    }

    /// Pads the body without changing its meaning, so that its size is the only reason to refuse it.
    private mutating func pad() {
        let padding = String(repeating: "x", count: 256 * 1024)
        if response.body.last == UInt8(ascii: "}"), response.body != Array("{}".utf8) {
            response.body.removeLast()
            response.body += Array(#","padding":"\#(padding)"}"#.utf8)
        } else {
            response.body += Array("<!--\(padding)-->".utf8)
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
