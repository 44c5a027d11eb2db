import HTTPEngine
import StrictJSON

/// The OpenAPI 3.1 document of this API, generated from the endpoint and body declarations. `GET
/// /openapi.yaml` returns it.
///
/// A generated document repeats mistakes in the code, so a test compares it, member by member, with a
/// handwritten document.
package struct OpenAPIDocument {
    /// The media types of JSON bodies, and of forms from browsers and OAuth clients.
    private static let mediaTypes: [BodyFormat: String] = [
        .json: "application/json", .form: form, .pageForm: form, .oauthForm: form,
        .securityEventToken: "application/secevent+jwt",
    ]
    private static let form = "application/x-www-form-urlencoded"

    private let version: String
    /// The component schemas that have been generated so far, by name.
    private var schemas: [String: JSONValue] = [:]

    private init(version: String) {
        self.version = version
    }

    /// Returns the document as YAML 1.2.
    package static func text(version: String) -> String { YAMLText.document(tree(version: version)) }

    /// Returns the document as a JSON object.
    static func tree(version: String) -> JSONObject {
        var document = OpenAPIDocument(version: version)
        return document.tree()
    }

    private mutating func tree() -> JSONObject {
        var paths: [(String, JSONValue)] = []
        for endpoint in Endpoint.all {
            let path = endpoint.path.description
            let index = paths.firstIndex { $0.0 == path } ?? paths.endIndex
            if index == paths.endIndex { paths.append((path, .object(item(of: endpoint)))) }
            guard case .object(var item) = paths[index].1 else { continue }
            item["\(endpoint.method)"] = .object(operation(endpoint))
            paths[index].1 = .object(item)
        }
        let responses = SharedResponse.responses.map { ($0.name, JSONValue.object(response($0))) }
        let names = schemas.keys.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
        let components: [(String, JSONValue)] = [
            ("securitySchemes", SharedResponse.securitySchemes), ("headers", SharedResponse.headers),
            ("links", SharedResponse.links), ("responses", .object(JSONObject(responses))),
            ("schemas", .object(JSONObject(names.map { ($0, schemas[$0] ?? .null) }))),
        ]
        return JSONObject([
            ("openapi", "3.1.0"), ("info", information), ("servers", [["url": "/"]]),
            ("security", [["apiKey": []]]),
            (
                "tags",
                .array(
                    Operation.Tag.allCases.map {
                        ["name": .string($0.rawValue), "description": .string($0.text)]
                    })
            ),
            ("paths", .object(JSONObject(paths))), ("components", .object(JSONObject(components))),
        ])
    }

    private var information: JSONValue {
        [
            "title": "siwa", "version": .string(version), "summary": "Sign in with Apple for backends.",
            "description": """
            Verifies Apple's identity tokens, stores one stable account per user, reports the state of Apple's credential
            (authorized, revoked or not found), and provides a feed of changes.

            JSON member names are in snake_case. Times are in RFC 3339, UTC, always with milliseconds. A response omits
            unknown values: it has no null and no empty string. In a request, null counts as absent. Unknown members
            and parameters are refused. Every error is an `application/problem+json` document with a stable `code`.

            **Extensions.** Responses can get new members, and lists marked `x-extensible-enum` can get new values, without a
            new version. A client must ignore unknown members, and must handle unknown values.

            **Request IDs.** Every response has `X-Request-ID`. A caller may send its own: 1 to 64 characters of
            `[A-Za-z0-9._-]`. Any other value is replaced.

            **Versions.** Every response has `Siwa-API-Version`. The number changes only if an existing client could fail.
            A client that was made for another number logs a warning and continues.
            """,
        ]
    }

    /// Returns the path item members that all calls with the path share.
    private mutating func item(of endpoint: Endpoint) -> JSONObject {
        let shared = endpoint.operation.parameters.filter(\.isOfPath)
        return JSONObject(shared.isEmpty ? [] : [("parameters", .array(shared.map { parameter($0) }))])
    }

    private mutating func operation(_ endpoint: Endpoint) -> JSONObject {
        let operation = endpoint.operation
        var members: [(String, JSONValue)] = [
            ("tags", [.string(operation.tag.rawValue)]), ("operationId", .string(endpoint.name.description)),
            ("summary", .string(operation.summary)),
        ]
        if !operation.text.isEmpty { members.append(("description", .string(operation.text))) }
        if let security = security(of: endpoint) { members.append(("security", .array(security))) }
        let parameters = operation.parameters.filter { !$0.isOfPath }
        if !parameters.isEmpty { members.append(("parameters", .array(parameters.map { parameter($0) }))) }
        if let content = operation.takes, let type = Self.mediaTypes[endpoint.body] {
            members.append(
                ("requestBody", ["required": true, "content": [type: .object(self.content(content))]]))
        }
        members.append(("responses", .object(responses(of: endpoint))))
        return JSONObject(members)
    }

    /// Returns a call's security requirement; `nil` if the document's default applies.
    private func security(of endpoint: Endpoint) -> [JSONValue]? {
        if !endpoint.operation.security.isEmpty {
            return endpoint.operation.security.map { $0 == .none ? [:] : [$0.rawValue: []] }
        }
        switch endpoint.caller {
        case .apiKey, .metricsReader: return nil
        // OpenAPI has no security scheme for signed bodies, so Google's signed posts have no scheme here.
        case .anyone, .oauthClient: return []
        }
    }

    private mutating func parameter(_ parameter: Operation.Parameter) -> JSONValue {
        var members: [(String, JSONValue)] = [
            ("name", .string(parameter.name)), ("in", .string(parameter.place.rawValue)),
        ]
        if parameter.isRequired { members.append(("required", true)) }
        if !parameter.text.isEmpty { members.append(("description", .string(parameter.text))) }
        members.append(("schema", schema(parameter.schema)))
        if let example = parameter.example { members.append(("example", example)) }
        return .object(JSONObject(members))
    }

    private mutating func responses(of endpoint: Endpoint) -> JSONObject {
        let operation = endpoint.operation
        var byStatus = operation.returns.map { ($0.status, response($0)) }
        for status in operation.refuses {
            if let name = Self.refusals[status] { byStatus.append((status, Self.shared(name))) }
        }
        byStatus.sort { $0.0 < $1.0 }
        let other =
            switch endpoint.errors {
            case .problem, .pageForBrowsers: "Problem"
            case .oauth: "OAuthError"
            case .page: "AuthorizeError"
            }
        return JSONObject(byStatus.map { (String($0.0), $0.1) } + [("default", Self.shared(other))])
    }

    private static let refusals = [
        400: "BadRequest", 401: "Unauthorized", 403: "Forbidden", 404: "NotFound", 503: "Unavailable",
    ]

    private static func shared(_ name: String) -> JSONValue {
        ["$ref": .string("#/components/responses/\(name)")]
    }

    /// The header fields of every response.
    private static let fields: [(String, JSONValue)] = [
        ("X-Request-ID", ["$ref": "#/components/headers/RequestID"]),
        ("Siwa-API-Version", ["$ref": "#/components/headers/APIVersion"]),
    ]

    private mutating func response(_ response: Operation.Response) -> JSONValue {
        if let name = response.shared { return Self.shared(name) }
        var members: [(String, JSONValue)] = [
            ("description", .string(response.text)),
            ("headers", .object(JSONObject(response.headers + Self.fields))),
        ]
        if let content = response.content, let type = content.mediaType {
            members.append(("content", [type: .object(self.content(content))]))
        }
        if !response.links.isEmpty {
            let links = response.links.map { name, link in
                (name, ["$ref": .string("#/components/links/\(link)")] as JSONValue)
            }
            members.append(("links", .object(JSONObject(links))))
        }
        return .object(JSONObject(members))
    }

    private mutating func response(_ response: SharedResponse) -> JSONObject {
        var members: [(String, JSONValue)] = [
            ("description", .string(response.text)),
            ("headers", .object(JSONObject(response.headers.map { ($0.key, $0.value) } + Self.fields))),
        ]
        var content: [(String, JSONValue)] = []
        for form in response.content {
            switch form {
            case .json(let schema, let example):
                let body = Operation.Content(schema: schema, mediaType: nil, example: example)
                content.append(("application/json", .object(self.content(body))))
            case .problem(let example):
                let body = Operation.Content(schema: ProblemBody.schema, mediaType: nil, example: example)
                content.append(("application/problem+json", .object(self.content(body))))
            case .html: content.append(("text/html", ["schema": ["type": "string"]]))
            }
        }
        if !content.isEmpty { members.append(("content", .object(JSONObject(content)))) }
        return JSONObject(members)
    }

    private mutating func content(_ content: Operation.Content) -> JSONObject {
        let schema = ("schema", schema(content.schema))
        return JSONObject(content.example.map { [schema, ("example", $0)] } ?? [schema])
    }

    /// Returns the schema, and adds every schema that it references to the document.
    private mutating func schema(_ schema: JSONSchema) -> JSONValue {
        for component in schema.components where schemas[component.name] == nil {
            // The placeholder ends the recursion if a schema refers to itself.
            schemas[component.name] = .null
            schemas[component.name] = self.schema(component.schema())
        }
        return .object(schema.keywords)
    }
}

/// The version of this API in every response, so that a client that is too old or too new can say so.
enum APIVersion {
    static let number = "1"
    /// The header field as the engine writes it.
    static let field: StaticString = "siwa-api-version: 1\r\n"
}
