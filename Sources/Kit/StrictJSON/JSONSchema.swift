/// A JSON Schema (draft 2020-12, as in OpenAPI 3.1), together with the named schemas that it refers to.
///
/// A string literal is a schema with only a description. It extends the schema of a member's type.
public struct JSONSchema: Sendable {
    public private(set) var keywords: JSONObject
    /// Schemas that `$ref` names, including those that inner schemas refer to.
    public private(set) var components: [Component]

    public struct Component: Sendable {
        public let name: String
        public let schema: @Sendable () -> JSONSchema
    }

    public init(_ keywords: [(String, JSONValue)], components: [Component] = []) {
        (self.keywords, self.components) = (JSONObject(keywords), components)
    }

    /// Returns a reference to a schema in the document's components.
    public static func component(
        _ name: String, _ schema: @escaping @Sendable () -> JSONSchema
    ) -> JSONSchema {
        JSONSchema(
            [("$ref", .string("#/components/schemas/\(name)"))],
            components: [Component(name: name, schema: schema)])
    }

    /// Returns the schema of an open word list. New words do not require a new API version.
    public static func words(_ words: [String], _ text: String = "") -> JSONSchema {
        JSONSchema([("type", "string"), ("x-extensible-enum", .array(words.map { .string($0) }))])
            .with(JSONSchema(stringLiteral: text))
    }

    /// - Parameter keyword: `allOf`, `anyOf` or `oneOf`.
    public static func combined(_ keyword: String, _ schemas: [JSONSchema], _ text: String = "") -> JSONSchema
    {
        JSONSchema(
            [(keyword, .array(schemas.map { .object($0.keywords) }))],
            components: schemas.flatMap(\.components)
        ).with(JSONSchema(stringLiteral: text))
    }

    public static func array(of items: JSONSchema, _ detail: JSONSchema = "") -> JSONSchema {
        JSONSchema(
            [("type", "array"), ("items", .object(items.keywords))], components: items.components
        ).with(detail)
    }

    /// Returns a schema that limits a string's length in characters.
    public static func length(_ bound: ClosedRange<Int>, _ text: String = "") -> JSONSchema {
        let least: JSONSchema = bound.lowerBound > 0 ? ["minLength": .integer(Int64(bound.lowerBound))] : ""
        return least.with(["maxLength": .integer(Int64(bound.upperBound))])
            .with(JSONSchema(stringLiteral: text))
    }

    public static func nonEmpty(_ text: String = "") -> JSONSchema {
        (["minLength": 1] as JSONSchema).with(JSONSchema(stringLiteral: text))
    }

    /// Returns the schema of a number that is at least `least`.
    public static func from(_ least: Int64, _ text: String = "") -> JSONSchema {
        (["minimum": .integer(least)] as JSONSchema).with(JSONSchema(stringLiteral: text))
    }

    public static func within(_ bound: ClosedRange<Int64>, _ text: String = "") -> JSONSchema {
        (["minimum": .integer(bound.lowerBound), "maximum": .integer(bound.upperBound)] as JSONSchema)
            .with(JSONSchema(stringLiteral: text))
    }

    /// Returns this schema, with the detail's keywords replacing its own. If a reference has a detail, the
    /// result is an `allOf`. If the detail is a complete schema, it replaces this schema.
    public func with(_ detail: JSONSchema) -> JSONSchema {
        if detail.keywords.members.isEmpty { return self }
        let isWhole = detail.keywords.members.contains { Self.kinds.contains($0.name) }
        if isWhole { return detail }
        var result = keywords["$ref"] == nil ? self : Self.combined("allOf", [self])
        for (name, value) in detail.keywords.members { result.keywords[name] = value }
        result.components += detail.components
        return result
    }

    /// This schema, extended to accept `null`.
    public var orNull: JSONSchema {
        guard case .string(let type)? = keywords["type"] else {
            return Self.combined("anyOf", [self, ["type": "null"]])
        }
        var result = self
        result.keywords["type"] = [.string(type), "null"]
        return result
    }

    private static let kinds: Set<String> = ["$ref", "type", "allOf", "anyOf", "oneOf"]
}

extension JSONSchema: ExpressibleByStringLiteral, ExpressibleByDictionaryLiteral {
    public init(stringLiteral text: String) {
        self.init(text.isEmpty ? [] : [("description", .string(text))])
    }

    public init(dictionaryLiteral keywords: (String, JSONValue)...) {
        self.init(keywords)
    }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
{
    public init(stringLiteral text: String) { self = .string(text) }
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    public init(integerLiteral value: Int64) { self = .integer(value) }
    public init(arrayLiteral elements: JSONValue...) { self = .array(elements) }
    public init(dictionaryLiteral members: (String, JSONValue)...) { self = .object(JSONObject(members)) }
}
