import HTTPTypes
import Pages
import StrictJSON

/// The description of a control API: an OpenAPI 3.1 document, and the content of a page.
///
/// Both contain the address that the client used to reach the emulator.
struct ControlDescription: Sendable {
    let title: String
    let calls: [ControlCall]
    let codes: [EmulatorError.Code]

    func document(at address: String) -> JSONObject {
        var paths = JSONObject()
        for call in calls {
            var item = paths[call.path]?.object ?? JSONObject()
            item[call.method.rawValue.lowercased()] = .object(call.operation)
            paths[call.path] = .object(item)
        }
        return JSONObject([
            ("openapi", "3.1.0"),
            (
                "info",
                ["title": .string(title), "version": "1", "description": .string(Self.text)]
            ),
            ("servers", [["url": .string(address)]]), ("paths", .object(paths)),
            (
                "components",
                [
                    "responses": ["Problem": .object(problem)],
                    "schemas": .object(JSONObject(schemas.map { ($0.name, .object($0.schema.keywords)) })),
                ]
            ),
        ])
    }

    /// The schemas to which responses and other schemas refer.
    private var schemas: [(name: String, schema: JSONSchema)] {
        var found: [String: JSONSchema] = [:]
        var rest = calls.flatMap(\.response.components)
        while let component = rest.popLast() {
            guard found[component.name] == nil else { continue }
            let schema = component.schema()
            found[component.name] = schema
            rest += schema.components
        }
        return found.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    private static let text = """
        A body is one strict JSON object of at most \(ControlInput.bodyLimit) bytes, whatever its Content-Type. \
        Unknown members are refused, and a known member that is null counts as absent. maxLength counts bytes. \
        Requests from web pages are refused.
        """

    private var problem: JSONObject {
        let names = codes.map(\.name).sorted()
        let schema = JSONSchema.object(
            required: ["type", "title", "status", "code"],
            properties: [
                ("type", ["type": "string"]), ("title", ["type": "string"]),
                ("status", ["type": "integer"]), ("code", .object(JSONSchema.words(names).keywords)),
                ("detail", ["type": "string"]),
            ], components: [])
        return JSONObject([
            ("description", "A problem document (RFC 9457). Its code is stable."),
            ("content", ["application/problem+json": ["schema": .object(schema.keywords)]]),
        ])
    }
}

extension ControlCall {
    fileprivate var operation: JSONObject {
        let listing = list()
        var json = JSONObject([("operationId", .string(operationID)), ("summary", .string(summary))])
        let parameters =
            listing.path.map { Self.parameter($0, in: "path") }
            + listing.query(formats).map { Self.parameter($0, in: "query") }
        if !parameters.isEmpty { json["parameters"] = .array(parameters) }
        if !listing.members.isEmpty {
            var content = JSONObject([("schema", .object(listing.body))])
            content["example"] = example
            json["requestBody"] = [
                "required": .bool(!listing.required.isEmpty),
                "content": ["application/json": .object(content)],
            ]
        }
        var content = JSONObject([("application/json", ["schema": .object(response.keywords)])])
        if formats.contains(.text) { content["text/plain"] = ["schema": ["type": "string"]] }
        json["responses"] = .object(
            JSONObject([
                (
                    String(status.code),
                    ["description": .string(status.reasonPhrase), "content": .object(content)]
                ), ("default", ["$ref": "#/components/responses/Problem"]),
            ]))
        return json
    }

    /// A name for generated clients, such as `postUsersBySubChangePassword`.
    private var operationID: String {
        let parts = path.split(separator: "/")
        let words = (parts.count > 1 ? parts.dropFirst() : parts[...]).flatMap { part in
            (part.hasPrefix("{") ? "by-\(part.dropFirst().dropLast())" : String(part))
                .split { $0 == "-" || $0 == "." || $0 == "_" }
        }
        return method.rawValue.lowercased()
            + words.map { $0.prefix(1).uppercased() + $0.dropFirst() }.joined()
    }

    private static func parameter(_ value: ControlListing.Value, in place: String) -> JSONValue {
        [
            "name": .string(value.name), "in": .string(place), "required": .bool(place == "path"),
            "schema": .object(value.schema.keywords),
        ]
    }
}

extension ControlListing {
    /// Returns the parameters of the query, with the response format if there is a choice.
    fileprivate func query(_ formats: [ControlFormat]) -> [Value] {
        formats.count == 1 ? query : query + [("format", .word(among: formats.map(\.rawValue)))]
    }

    /// Returns a member's condition in words; empty for an optional member.
    fileprivate func need(of name: String) -> String {
        guard let group = required.first(where: { $0.contains(name) }) else { return "" }
        return group.count == 1 ? "; required" : "; exactly one of \(group.joined(separator: ", "))"
    }

    fileprivate var body: JSONObject {
        let object = JSONSchema.object(
            required: required.filter { $0.count == 1 }.map { .string($0[0]) },
            properties: members.map { ($0.name, .object($0.schema.keywords)) }, components: [])
        var keywords = object.with(["additionalProperties": false]).keywords
        for group in required where group.count > 1 {
            keywords["oneOf"] = .array(group.map { ["required": [.string($0)]] })
        }
        return keywords
    }
}

// The page.
extension ControlDescription {
    func content(at address: String) -> HTML {
        HTML {
            "<h1>\(title)</h1>"
            """
            <p>Tests and other programs control this emulator by these calls. <a href="openapi.json">The OpenAPI \
            document</a> describes them too. Each member of a request is optional, unless it is marked as \
            required. The objects of the responses are below the calls.</p>
            """
            Card(look: "account") {
                for call in calls { call.details(at: address) }
            }
            Card("Objects of the responses", look: "account") {
                for (name, schema) in schemas {
                    Details("<code>\(name)</code>") {
                        HTML.table(schema.members.map { ($0, .text($1)) })
                    }.html
                }
            }
        }
    }
}

extension ControlCall {
    fileprivate func details(at address: String) -> HTML {
        let listing = list()
        let rows =
            listing.path.map { ($0.name, "in the path: \($0.schema.words)") }
            + listing.query(formats).map { ($0.name, "in the query: \($0.schema.words)") }
            + listing.members.map { ($0.name, $0.schema.words + listing.need(of: $0.name)) }
            + [("response \(status.code)", response.words)]
        return Details("<code>\(method.rawValue) \(path)</code><br>\(summary)") {
            HTML.table(rows.map { ($0.0, .text($0.1)) })
            CodeBlock("Example of \(method.rawValue) \(path)", command(at: address, listing))
        }.html
    }

    private func command(at address: String, _ listing: ControlListing) -> String {
        var url = address + path
        for (name, schema) in listing.path {
            let value = schema.keywords["examples"] ?? schema.keywords["enum"]
            url = url.replacing("{\(name)}", with: value?.array?.first?.string ?? name.uppercased())
        }
        let verb = method == .get ? "" : " -X \(method.rawValue)"
        // Between single quotes, a shell keeps every character except the single quote.
        let body = example.map { example in
            " -d '\(String(decoding: example.serialized(), as: UTF8.self))'"
        }
        return "curl -sS\(verb) \(url)\(body ?? "")"
    }
}

extension JSONSchema {
    fileprivate var words: String { Self.words(.object(keywords)) }

    /// The members of an object, with their values in words.
    fileprivate var members: [(name: String, words: String)] {
        let required = keywords["required"]?.array ?? []
        return (keywords["properties"]?.object?.members ?? []).map { name, schema in
            let need = required.contains(.string(name)) ? "" : ", if there is one"
            let sentence = schema["description"]?.string.map { ". \($0)" } ?? ""
            return (name, Self.words(schema) + need + sentence)
        }
    }

    /// Returns the allowed values in words.
    private static func words(_ schema: JSONValue) -> String {
        if let words = schema["enum"]?.array {
            return words.compactMap(\.string).joined(separator: ", ")
        }
        if let schemas = (schema["anyOf"] ?? schema["allOf"])?.array {
            return schemas.map { words($0) }.joined(separator: ", or ")
        }
        if let name = schema["$ref"]?.string?.split(separator: "/").last { return String(name) }
        switch schema["type"]?.string {
        case "string":
            return schema["maxLength"]?.integer.map { "a string of at most \($0) bytes" } ?? "a string"
        case "integer":
            guard let least = schema["minimum"]?.integer, let most = schema["maximum"]?.integer else {
                return "an integer"
            }
            return "an integer, \(least) to \(most)"
        case "boolean": return "true or false"
        case "array": return "an array of: \(words(schema["items"] ?? .null))"
        case "object": return "an object"
        default: return "any JSON"
        }
    }
}
