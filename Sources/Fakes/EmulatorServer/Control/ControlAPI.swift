package import HTTPTypes
package import Hummingbird
package import Pages
package import StrictJSON

/// The control API of one emulator. It adds each call to the router, and describes all calls in an OpenAPI
/// document and on a page.
package final class ControlAPI<Context: RequestContext> {
    private let group: RouterGroup<Context>
    private let base: String
    private let title: String
    private let scheme: String
    private let hasText: Bool
    private var calls: [ControlCall] = []

    /// - Parameters:
    ///   - base: Path of the API, without slashes.
    ///   - title: The emulator's name.
    ///   - hasText: True if each call has a response in plain text besides JSON.
    package init(
        _ router: Router<Context>, at base: String, title: String, scheme: String = "http",
        hasText: Bool = false
    ) {
        group = router.group(RouterPath(base)).add(middleware: BrowserMiddleware())
        (self.base, self.title, self.scheme, self.hasText) = ("/\(base)", title, scheme, hasText)
    }

    /// Adds a call.
    ///
    /// - Parameters:
    ///   - path: Path below the API's path, with parameters in braces.
    ///   - summary: Sentence for the description of the API.
    ///   - hasText: True if this call has a response in plain text, although other calls have none.
    ///   - variant: The call's own format besides JSON and text.
    ///   - example: Members of an example body.
    ///   - read: Reads all parameters and members, and changes nothing.
    package func add<Value: Sendable, Body>(
        _ method: HTTPRequest.Method, _ path: String, _ summary: String, status: HTTPResponse.Status = .ok,
        hasText: Bool = false, variant: ControlVariant<Body>? = nil, example: JSONValue? = nil,
        reading read: @escaping @Sendable (inout ControlInput) throws(EmulatorError) -> Value,
        use respond: @escaping @Sendable (Value) async throws -> ControlResponse<Body>
    ) {
        var formats = [ControlFormat.json]
        if hasText || self.hasText { formats.append(.text) }
        if let variant { formats.append(variant.format) }
        calls.append(
            ControlCall(
                method: method, path: path.isEmpty ? base : "\(base)/\(path)", summary: summary,
                status: status, formats: formats,
                response: variant.map { .combined("anyOf", [Body.schema, $0.schema]) } ?? Body.schema,
                example: example, list: { ControlInput.listing(of: read) }))
        group.on(RouterPath(path), method: method) { [formats] request, context -> Response in
            var input = try await ControlInput(request, context)
            let value = try read(&input)
            try input.finish()
            let format = try ControlFormat(of: request, among: formats)
            let response = try await respond(value)
            if format == .text {
                return .uncached(status, "text/plain;charset=utf-8", Array(response.text.utf8))
            }
            if format != .json, let form = variant?.form(response.body) {
                return .json(form, status: status)
            }
            return .json(response.body, status: status)
        }
    }

    /// Adds a call without parameters and members.
    package func add<Body>(
        _ method: HTTPRequest.Method, _ path: String, _ summary: String, hasText: Bool = false,
        use respond: @escaping @Sendable () async throws -> ControlResponse<Body>
    ) {
        add(method, path, summary, hasText: hasText) { _ in
        } use: { _ in
            try await respond()
        }
    }

    /// Adds the document, which lists itself too, and the page. Must be called last.
    ///
    /// - Parameters:
    ///   - codes: Codes of the emulator's own errors.
    ///   - page: Returns the page with this title and content.
    package func describe(
        codes: [EmulatorError.Code], page: @escaping @Sendable (String, HTML) -> Response
    ) {
        let call = ControlCall(
            method: .get, path: "\(base)/openapi.json",
            summary: "Returns the OpenAPI document of these calls.", response: JSONObject.schema)
        let description = ControlDescription(
            title: title, calls: calls + [call], codes: EmulatorError.Code.ofControlAPIs + codes)
        let scheme = scheme
        @Sendable func address(_ request: Request) -> String {
            // Every request has a host that the emulator allows, because other requests are refused earlier.
            "\(scheme)://\(request.head.authority ?? "")"
        }
        group.get("openapi.json") { request, _ in Response.json(description.document(at: address(request))) }
        group.get("api") { request, _ in page("Control API", description.content(at: address(request))) }
    }
}

/// One call of a control API.
struct ControlCall: Sendable {
    let method: HTTPRequest.Method
    /// Path with parameters in braces.
    let path: String
    let summary: String
    var status = HTTPResponse.Status.ok
    /// The formats, JSON first.
    var formats = [ControlFormat.json]
    let response: JSONSchema
    var example: JSONValue?
    var list: @Sendable () -> ControlListing = { ControlListing() }
}
