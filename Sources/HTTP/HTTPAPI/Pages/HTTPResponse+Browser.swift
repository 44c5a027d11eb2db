import HTTPEngine
import NIOHTTP1

extension HTTPResponse {
    /// Redirects a browser with GET. The address may contain a secret: it is neither cached nor sent to the
    /// next page.
    static func redirect(to location: String, cookie: String? = nil) -> HTTPResponse {
        var response = HTTPResponse(status: .seeOther, contentType: nil, body: [], forbidsCaching: true)
        response.fields = [("location", location), ("referrer-policy", "no-referrer")]
        if let cookie { response.fields.append(("set-cookie", cookie)) }
        return response
    }
}
