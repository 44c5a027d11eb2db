import Encodings
import HTTPEngine
import NIOHTTP1

/// A response of the console, with the header fields that protect all of them.
struct ConsoleReply {
    var status = HTTPResponseStatus.ok
    var contentType: StaticString = "text/html; charset=utf-8"
    var body: [UInt8] = []
    var location: String?
    var cookies: [String] = []
    var allow: String?
    var retryAfter: Int64?
    /// The stable code of a refusal, for the log.
    var code: String?
    /// True for a file whose name has the hash of its content.
    var isImmutable = false
    /// The policy of a document for a frame of a page; `nil` for a page of the console, which no page may frame.
    var framedPolicy: String?

    var response: HTTPResponse {
        var response = HTTPResponse(
            status: status, contentType: contentType, body: body, forbidsCaching: !isImmutable)
        response.code = code
        response.fields = Self.protection
        if let framedPolicy {
            response.fields += [
                ("content-security-policy", framedPolicy), ("x-frame-options", "SAMEORIGIN"),
            ]
        } else {
            response.fields += [
                ("content-security-policy", Self.contentSecurityPolicy), ("x-frame-options", "DENY"),
            ]
        }
        if isImmutable { response.fields.append(("cache-control", "public, max-age=31536000, immutable")) }
        if let location { response.fields.append(("location", location)) }
        if let allow { response.fields.append(("allow", allow)) }
        if let retryAfter { response.fields.append(("retry-after", String(retryAfter))) }
        for cookie in cookies { response.fields.append(("set-cookie", cookie)) }
        return response
    }

    /// Without `no-referrer`, because browsers then send `Origin: null` with the console's own forms.
    private static let protection: [(name: StaticString, value: String)] = [
        ("referrer-policy", "same-origin"),
        ("x-content-type-options", "nosniff"),
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
    ]

    /// No page has a script or a style of its own, so an injected one does nothing (CSP Level 3).
    static let contentSecurityPolicy =
        "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; connect-src 'self'; "
        + "form-action 'self'; frame-src 'self'; base-uri 'none'; frame-ancestors 'none'"
}
