package import HTTPTypes
package import Hummingbird
package import Pages
package import StrictJSON

/// The control API of one emulator. It adds each call to the router, and describes all calls in an OpenAPI
/// document and on a page.
///
/// The description has the summaries, parameters and members of the calls, but no members of responses.
package final class ControlAPI<Context: RequestContext> {
    private let group: RouterGroup<Context>
    private let base: String
    private let title: String
    private let scheme: String
    private var calls: [ControlCall] = []

    /// - Parameters:
    ///   - base: Path of the API, without slashes.
    ///   - title: The emulator's name.
    package init(_ router: Router<Context>, at base: String, title: String, scheme: String = "http") {
        group = router.group(RouterPath(base)).add(middleware: BrowserMiddleware())
        (self.base, self.title, self.scheme) = ("/\(base)", title, scheme)
    }

    /// Adds a call.
    ///
    /// - Parameters:
    ///   - path: Path below the API's path, with parameters in braces.
    ///   - summary: Sentence for the description of the API.
    ///   - formats: Values of `?format=` that the call accepts. The default format is JSON.
    ///   - example: Members of an example body.
    ///   - read: Reads all parameters and members, and changes nothing.
    package func add<Value: Sendable>(
        _ method: HTTPRequest.Method, _ path: String, _ summary: String, status: HTTPResponse.Status = .ok,
        formats: [String] = [], example: JSONValue? = nil,
        reading read: @escaping @Sendable (inout ControlInput) throws(EmulatorError) -> Value,
        use respond: @escaping @Sendable (Request, Value) async throws -> Response
    ) {
        calls.append(
            ControlCall(
                method: method, path: path.isEmpty ? base : "\(base)/\(path)", summary: summary,
                status: status, formats: formats, example: example,
                list: { ControlInput.listing(of: read) }))
        group.on(RouterPath(path), method: method) { request, context in
            var input = try await ControlInput(request, context)
            let value = try read(&input)
            try input.finish()
            return try await respond(request, value)
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
            summary: "Returns the OpenAPI document of these calls.")
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
    var formats: [String] = []
    var example: JSONValue?
    var list: @Sendable () -> ControlListing = { ControlListing() }
}
