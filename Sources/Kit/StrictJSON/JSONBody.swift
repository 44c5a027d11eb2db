/// A type that a member of a JSON object can have, with its encoding and schema.
public protocol JSONMember: SendableMetatype {
    static var schema: JSONSchema { get }
    func write(into json: inout JSONWriter)
}

/// A response body, or an object in a body. The type declares its members once: one visitor writes them, and
/// another lists them for the schema.
public protocol JSONBody: JSONMember {
    /// Name of the schema in the OpenAPI document's components.
    static var schemaName: String { get }
    /// Description of the schema; empty if the members explain themselves.
    static var schemaText: String { get }
    /// Visits every member once, in the order in which the body contains them.
    static func members<C: MemberCourse>(_ member: inout C) where C.Value == Self
}

/// A visitor of a body's members.
///
/// The schema of a member's type can be extended with a detail. A string literal is a detail with only a
/// description. A member with an optional type is not required, and is omitted if it has no value, because
/// responses contain no null.
public protocol MemberCourse<Value> {
    associatedtype Value
    mutating func callAsFunction<M: JSONMember>(
        _ name: StaticString, _ detail: @autoclosure () -> JSONSchema, _ get: (Value) -> M)
    mutating func callAsFunction<M: JSONMember>(
        _ name: StaticString, _ detail: @autoclosure () -> JSONSchema, _ get: (Value) -> M?)
    /// Visits every member of another body, whose schema this schema includes through `allOf`.
    mutating func members<B: JSONBody>(of get: (Value) -> B)
    /// Visits every member of another body as if it were a member of this body's own schema.
    mutating func inline<B: JSONBody>(_ get: (Value) -> B)
}

extension MemberCourse {
    @inlinable @inline(__always)
    public mutating func callAsFunction<M: JSONMember>(_ name: StaticString, _ get: (Value) -> M) {
        self(name, "", get)
    }

    @inlinable @inline(__always)
    public mutating func callAsFunction<M: JSONMember>(_ name: StaticString, _ get: (Value) -> M?) {
        self(name, "", get)
    }
}

extension MemberCourse {
    /// Visits a member that every response contains, but that the schema does not require, so that clients do
    /// not rely on it.
    @inlinable @inline(__always)
    public mutating func unrequired<M: JSONMember>(
        _ name: StaticString, _ detail: @autoclosure () -> JSONSchema, _ get: (Value) -> M
    ) {
        self(name, detail()) { Optional(get($0)) }
    }
}

/// Writes the members of a value. Both pointers are valid only during a single visit.
public struct MemberWriting<Value>: MemberCourse {
    @usableFromInline let value: UnsafePointer<Value>
    @usableFromInline let json: UnsafeMutablePointer<JSONWriter>

    @inlinable @inline(__always)
    init(_ value: UnsafePointer<Value>, into json: UnsafeMutablePointer<JSONWriter>) {
        (self.value, self.json) = (value, json)
    }

    @inlinable @inline(__always)
    public mutating func callAsFunction<M: JSONMember>(
        _ name: StaticString, _ detail: @autoclosure () -> JSONSchema, _ get: (Value) -> M
    ) {
        json.pointee.name(name)
        get(value.pointee).write(into: &json.pointee)
    }

    @inlinable @inline(__always)
    public mutating func callAsFunction<M: JSONMember>(
        _ name: StaticString, _ detail: @autoclosure () -> JSONSchema, _ get: (Value) -> M?
    ) {
        guard let member = get(value.pointee) else { return }
        json.pointee.name(name)
        member.write(into: &json.pointee)
    }

    @inlinable @inline(__always)
    public mutating func members<B: JSONBody>(of get: (Value) -> B) {
        get(value.pointee).writeMembers(into: &json.pointee)
    }

    @inlinable @inline(__always)
    public mutating func inline<B: JSONBody>(_ get: (Value) -> B) { members(of: get) }
}

/// Lists the members of a body.
private struct MemberListing<Value>: MemberCourse {
    var required: [JSONValue] = []
    var properties: [(String, JSONValue)] = []
    var parents: [JSONSchema] = []
    var components: [JSONSchema.Component] = []

    mutating func callAsFunction<M: JSONMember>(
        _ name: StaticString, _ detail: @autoclosure () -> JSONSchema, _ get: (Value) -> M
    ) {
        required.append(.string(name.description))
        add(name, M.schema.with(detail()))
    }

    mutating func callAsFunction<M: JSONMember>(
        _ name: StaticString, _ detail: @autoclosure () -> JSONSchema, _ get: (Value) -> M?
    ) {
        add(name, M.schema.with(detail()))
    }

    mutating func members<B: JSONBody>(of get: (Value) -> B) {
        parents.append(B.schema)
    }

    mutating func inline<B: JSONBody>(_ get: (Value) -> B) {
        var listing = MemberListing<B>()
        B.members(&listing)
        required += listing.required
        properties += listing.properties
        components += listing.components
        parents += listing.parents
    }

    private mutating func add(_ name: StaticString, _ schema: JSONSchema) {
        precondition(!properties.contains { $0.0 == name.description }, "a member is declared twice")
        properties.append((name.description, .object(schema.keywords)))
        components += schema.components
    }

    func schema(_ text: String) -> JSONSchema {
        let own = JSONSchema.object(required: required, properties: properties, components: components)
        return parents.isEmpty
            ? own.with(JSONSchema(stringLiteral: text)) : .combined("allOf", parents + [own], text)
    }
}

extension JSONSchema {
    public static func object(
        required: [JSONValue], properties: [(String, JSONValue)], components: [Component]
    ) -> JSONSchema {
        var keywords: [(String, JSONValue)] = [("type", "object")]
        if !required.isEmpty { keywords.append(("required", .array(required))) }
        if !properties.isEmpty { keywords.append(("properties", .object(JSONObject(properties)))) }
        return JSONSchema(keywords, components: components)
    }
}

extension JSONBody {
    public static var schemaText: String { "" }

    public static var schema: JSONSchema {
        .component(schemaName) {
            var listing = MemberListing<Self>()
            members(&listing)
            return listing.schema(schemaText)
        }
    }

    @inlinable
    public func write(into json: inout JSONWriter) { json.object(self) }

    /// Writes the body's members into an object that the caller has begun.
    @inlinable
    public func writeMembers(into json: inout JSONWriter) {
        withUnsafeMutablePointer(to: &json) { json in
            withUnsafePointer(to: self) { value in
                var course = MemberWriting(value, into: json)
                Self.members(&course)
            }
        }
    }
}

extension JSONMember {
    /// - Parameter capacity: Number of bytes that is enough for most values.
    @inlinable
    public func json(reservingCapacity capacity: Int = 512) -> [UInt8] {
        var json = JSONWriter(reservingCapacity: capacity)
        write(into: &json)
        return json.bytes
    }
}

extension JSONWriter {
    /// Writes a body. A body in another module should call it in its own `write(into:)`, so that the compiler
    /// specializes the visitor.
    @inlinable
    public mutating func object<B: JSONBody>(_ body: B) {
        beginObject()
        body.writeMembers(into: &self)
        endObject()
    }
}

/// An open list of words, such as the codes in a response, which later versions may extend. The type
/// describes the list once.
public protocol JSONWord: JSONMember, RawRepresentable<String>, CaseIterable, Sendable {
    static var schemaName: String { get }
    static var schemaText: String { get }
}

extension JSONWord {
    public static var schemaText: String { "" }

    public static var schema: JSONSchema {
        .component(schemaName) { .words(allCases.map(\.rawValue), schemaText) }
    }

    @inlinable
    public func write(into json: inout JSONWriter) { json.value(rawValue) }
}

extension String: JSONMember {
    public static var schema: JSONSchema { ["type": "string"] }
    @inlinable
    public func write(into json: inout JSONWriter) { json.value(self) }
}

extension Bool: JSONMember {
    public static var schema: JSONSchema { ["type": "boolean"] }
    @inlinable
    public func write(into json: inout JSONWriter) { json.value(self) }
}

extension Int64: JSONMember {
    public static var schema: JSONSchema { ["type": "integer"] }
    @inlinable
    public func write(into json: inout JSONWriter) { json.value(self) }
}

extension Int: JSONMember {
    public static var schema: JSONSchema { ["type": "integer"] }
    @inlinable
    public func write(into json: inout JSONWriter) { json.value(self) }
}

extension JSONObject: JSONMember {
    public static var schema: JSONSchema { ["type": "object"] }
    public func write(into json: inout JSONWriter) { json.value(.object(self)) }
}

extension Array: JSONMember where Element: JSONMember {
    public static var schema: JSONSchema { .array(of: Element.schema) }

    @inlinable
    public func write(into json: inout JSONWriter) {
        json.beginArray()
        for element in self {
            json.element()
            element.write(into: &json)
        }
        json.endArray()
    }

    /// The list, or `nil` if it is empty, so that the member is omitted.
    @inlinable
    public var unlessEmpty: [Element]? { isEmpty ? nil : self }
}
