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

    /// A page for a user who cannot be redirected to the app.
    static func page(about problem: Problem, requestID: String) -> HTTPResponse {
        var response = HTTPResponse(
            status: problem.status, contentType: "text/html; charset=utf-8",
            body: RefusalPage.html(problem, requestID: requestID), forbidsCaching: true)
        response.code = problem.code
        response.fields = [
            ("content-security-policy", RefusalPage.policy), ("referrer-policy", "no-referrer"),
            ("x-content-type-options", "nosniff"),
            // For browsers that do not know `frame-ancestors`.
            ("x-frame-options", "DENY"), ("content-language", "en"),
        ]
        return response
    }
}
