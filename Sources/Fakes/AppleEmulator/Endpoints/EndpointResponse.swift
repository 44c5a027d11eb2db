import EmulatorServer
import HTTPTypes
import Hummingbird
import NIOCore
import Pages
import StrictJSON

/// An Apple endpoint's response, before a fault changes it.
struct EndpointResponse: Equatable {
    struct Header: Equatable {
        let name: String
        let value: String
    }

    static let jsonType = "application/json;charset=UTF-8"

    var status = 200
    var contentType: String?
    var headers: [Header] = []
    var body: [UInt8] = []

    static func json(_ object: JSONObject) -> EndpointResponse {
        EndpointResponse(
            contentType: jsonType, headers: [noStore], body: JSONValue.object(object).serialized())
    }

    static func refusal(_ refusal: OAuthError) -> EndpointResponse {
        var response = json(
            JSONObject([
                ("error", .string(refusal.code.rawValue)), ("error_description", .string(refusal.cause)),
            ]))
        response.status = refusal.code.status
        if let seconds = refusal.retryAfter {
            response.headers.append(Header(name: "Retry-After", value: String(seconds)))
        }
        return response
    }

    /// Forbids caching, as required for a response with a token (RFC 6749 §5.1).
    static let noStore = Header(name: "Cache-Control", value: "no-store")
}

extension EndpointResponse {
    /// - Parameters:
    ///   - formTargets: The allowed targets of forms and of the redirects after them, as written in the
    ///     policy; `nil` allows all targets.
    ///   - script: Script that runs when the page opens.
    static func page(
        _ title: String, status: Int = 200, isWide: Bool = false, formTargets: String? = "'self'",
        script: HTML? = nil, @PageBuilder _ content: () -> HTML
    ) -> EndpointResponse {
        let document = PageDocument(
            title: title, heading: "Fake Apple", content: content(), style: PackageResources.style_css,
            mainClass: isWide ? "wide" : "card", script: script, formTargets: formTargets)
        return EndpointResponse(
            status: status, contentType: "text/html;charset=UTF-8",
            headers: [
                noStore, Header(name: "Content-Security-Policy", value: document.policy),
                Header(name: "X-Content-Type-Options", value: "nosniff"),
            ],
            body: document.html.bytes)
    }

    /// Returns the page for any other request that the fake Apple refuses, such as a request with an unknown
    /// path.
    static func refusalPage(_ error: EmulatorError) -> EndpointResponse {
        .page("Not possible", status: error.code.status.code) { error.content }
    }

    /// Returns the page for a request that Apple would refuse. As at Apple, nothing is sent to the app.
    static func failurePage(_ refusal: OAuthError) -> EndpointResponse {
        .page("Cannot sign in", status: refusal.code.status) {
            "<h1>This sign-in has failed</h1>"
            "<p><code>\(refusal.code.rawValue)</code></p>"
            "<p>\(refusal.cause)</p>"
        }
    }
}

extension EndpointResponse {
    var headerFields: HTTPFields {
        var fields = HTTPFields()
        fields[.contentType] = contentType
        for header in headers {
            if let name = HTTPField.Name(header.name) { fields[name] = header.value }
        }
        return fields
    }

    var hummingbird: Response {
        Response(
            status: .init(code: status), headers: headerFields,
            body: ResponseBody(byteBuffer: ByteBuffer(bytes: body)))
    }
}

/// An OAuth error response (RFC 6749 §5.2) like the error responses from Apple's endpoints.
///
/// The description states the cause, and contains no token, code or user data. Apple's descriptions differ
/// and are undocumented, so no program may depend on them.
struct OAuthError: Error, Equatable {
    enum Code: String, CaseIterable {
        case invalidRequest = "invalid_request"
        case invalidClient = "invalid_client"
        case invalidGrant = "invalid_grant"
        case unauthorizedClient = "unauthorized_client"
        case unsupportedGrantType = "unsupported_grant_type"
        case invalidScope = "invalid_scope"
        /// A refresh token was validated too often. Apple documents the throttling, but not the response.
        case throttled
        /// The emulator cannot sign, because all signing keys are retired.
        case serverError = "server_error"

        var status: Int {
            switch self {
            case .invalidRequest, .invalidClient, .invalidGrant, .unauthorizedClient, .unsupportedGrantType,
                .invalidScope:
                400
            case .throttled: 429
            case .serverError: 500
            }
        }
    }

    let code: Code
    let cause: String
    /// Number of seconds until the client may retry.
    let retryAfter: Int64?

    init(_ code: Code, _ cause: String, retryAfter: Int64? = nil) {
        (self.code, self.cause, self.retryAfter) = (code, cause, retryAfter)
    }
}
