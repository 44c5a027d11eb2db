import HTTPEngine
import NIOHTTP1

/// Grants scripts of any web page the right to read some responses (Fetch §3.2): the documents about this
/// server, and userinfo, whose caller has the access token already.
///
/// No other response has these fields. Credentials of the browser are never allowed, so a page learns nothing
/// that it could not learn without a browser. Tokens are not issued to pages: a client without a server is
/// not supported in a browser.
enum CrossOriginAccess {
    /// Returns the response, readable for pages if the call allows it.
    static func granted(by endpoint: Endpoint?, _ response: HTTPResponse) -> HTTPResponse {
        guard let endpoint, endpoint.origins == .readers else { return response }
        var response = response
        response.fields.append(("access-control-allow-origin", "*"))
        response.fields.append(
            ("access-control-expose-headers", "www-authenticate, retry-after, x-request-id"))
        return response
    }

    /// The response to the browser's preflight before a request with `Authorization` (Fetch §4.8).
    static var preflight: HTTPResponse {
        var response = HTTPResponse(status: .noContent, contentType: nil, body: [])
        response.fields = [
            ("access-control-allow-methods", "GET, POST"),
            ("access-control-allow-headers", "authorization, content-type"),
            ("access-control-max-age", "86400"),
        ]
        return response
    }
}
