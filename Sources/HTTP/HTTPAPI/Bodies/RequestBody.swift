import AppleAccounts
import StrictJSON

/// A JSON request body. Each type declares its members once, in `init`, and different `RequestCourse`s use
/// that declaration: one parses a request strictly, and another collects the members for the OpenAPI schema.
///
/// Reading does not convert types, and rejects repeated and unknown names, because ignoring a misspelled
/// `nonce` would disable a check. A known member with the value `null` counts as absent, because serializers
/// in many languages write `null` for a value that is not set.
protocol RequestBody: Sendable, SendableMetatype {
    /// Name of the schema in the OpenAPI document's components.
    static var schemaName: String { get }
    /// The description of the schema; empty if the members need no description.
    static var schemaText: String { get }
    /// Passes each member to the course exactly once.
    init<C: RequestCourse>(_ member: inout C) throws(C.Failure)
    /// True if a standard requires the receiver to ignore undefined members.
    static var ignoresUnknownMembers: Bool { get }
    static var limits: JSONLimits { get }
    /// Schema keywords that cannot be derived from the members.
    static var schemaDetail: JSONSchema { get }
}

/// Visits the members of a request one after another. A member's bound limits its number of bytes or
/// elements. The schema of the member's type also gets the keywords in the detail.
protocol RequestCourse {
    associatedtype Failure: Error

    mutating func required<V: RequestValue>(
        _ name: StaticString, _ bound: ClosedRange<Int>?, _ detail: @autoclosure () -> JSONSchema
    ) throws(Failure) -> V

    mutating func callAsFunction<V: RequestValue>(
        _ name: StaticString, _ bound: ClosedRange<Int>?, _ detail: @autoclosure () -> JSONSchema
    ) throws(Failure) -> V?

    /// Visits a member with its own parsing function.
    ///
    /// - Parameter isRequired: True if the use case refuses a request without this member.
    mutating func callAsFunction<V>(
        _ name: StaticString, _ schema: @autoclosure () -> JSONSchema, isRequired: Bool,
        reading read: (JSONValue) throws(Problem) -> V?
    ) throws(Failure) -> V?
}

extension RequestCourse {
    mutating func required<V: RequestValue>(
        _ name: StaticString, _ detail: @autoclosure () -> JSONSchema = ""
    ) throws(Failure) -> V { try required(name, nil, detail()) }

    mutating func callAsFunction<V: RequestValue>(
        _ name: StaticString, _ detail: @autoclosure () -> JSONSchema = ""
    ) throws(Failure) -> V? { try self(name, nil, detail()) }

    mutating func callAsFunction<V>(
        _ name: StaticString, _ schema: @autoclosure () -> JSONSchema,
        reading read: (JSONValue) throws(Problem) -> V?
    ) throws(Failure) -> V? { try self(name, schema(), isRequired: false, reading: read) }
}

/// A type that a request member can have.
protocol RequestValue {
    static var requestSchema: JSONSchema { get }
    /// Returns the schema for values within a bound.
    static func schema(of bound: ClosedRange<Int>) -> JSONSchema
    /// A placeholder for a course that only lists the members.
    static var sample: Self { get }
    /// Returns `nil` for a value of another JSON type, and for a value outside the bound.
    init?(_ value: JSONValue, within bound: ClosedRange<Int>?)
}

extension RequestBody {
    static var schemaText: String { "" }
    static var ignoresUnknownMembers: Bool { false }
    static var limits: JSONLimits { JSONLimits() }
    static var schemaDetail: JSONSchema { "" }

    /// Reads the JSON object of a request. Throws `body_not_json`, `character_not_allowed`, `member_unknown`,
    /// `member_missing` or `member_malformed`.
    init(parsing bytes: [UInt8]) throws(Problem) {
        var course = try RequestReading(bytes, limits: Self.limits)
        do throws(Problem) {
            self = try Self(&course)
        } catch {
            // Reports a misspelled name before reporting that the required member with the correct name is
            // missing.
            let known = Self.listing.names
            if let name = course.rest.first(where: { !known.contains($0.name.string) })?.name,
                !Self.ignoresUnknownMembers
            {
                throw Problem.unknownMember(name)
            }
            throw error
        }
        if let unknown = course.rest.first, !Self.ignoresUnknownMembers {
            throw Problem.unknownMember(unknown.name)
        }
    }

    static var schema: JSONSchema {
        .component(schemaName) {
            listing.schema(ignoresUnknown: ignoresUnknownMembers, schemaText).with(schemaDetail)
        }
    }

    private static var listing: RequestListing {
        var course = RequestListing()
        _ = Self(&course)
        return course
    }
}

/// Reads the members of a request: first checks the whole object, then reads each declared member.
private struct RequestReading: RequestCourse {
    private var reader: JSONReader
    /// The members that the course has not yet read.
    private(set) var rest: [(name: JSONName, found: Found)] = []

    /// A member found in the object. Strings are read while the object is checked. Most members are strings,
    /// so most bytes are read only once.
    enum Found {
        case text(String)
        /// The position of a value that is not a string.
        case place(Int)
    }

    init(_ bytes: [UInt8], limits: JSONLimits) throws(Problem) {
        reader = JSONReader(bytes, limits: limits)
        do throws(JSONError) {
            try reader.beginObject()
            rest.reserveCapacity(8)
            while let name = try reader.nextMember() {
                if try reader.peekKind() == .string {
                    rest.append((name, .text(try reader.readString())))
                } else {
                    rest.append((name, .place(reader.place)))
                    try reader.skipValue()
                }
            }
            try reader.finish()
        } catch {
            throw error.bodyProblem
        }
    }

    /// Removes a member and returns its value; `nil` for an absent member and for `null`.
    private mutating func take(_ name: StaticString) throws(Problem) -> JSONValue? {
        guard let index = rest.firstIndex(where: { $0.name == name }) else { return nil }
        let place: Int
        switch rest.remove(at: index).found {
        case .text(let text): return .string(text)
        case .place(let found): place = found
        }
        reader.place = place
        do throws(JSONError) {
            let value = try reader.readValue()
            return value == .null ? nil : value
        } catch {
            throw error.bodyProblem
        }
    }

    private func value<V: RequestValue>(
        _ value: JSONValue, _ name: StaticString, _ bound: ClosedRange<Int>?
    ) throws(Problem) -> V {
        guard let value = V(value, within: bound) else {
            throw Problem(.memberMalformed, subject: .member(name.description))
        }
        return value
    }

    mutating func required<V: RequestValue>(
        _ name: StaticString, _ bound: ClosedRange<Int>?, _ detail: @autoclosure () -> JSONSchema
    ) throws(Problem) -> V {
        guard let value = try take(name) else {
            throw Problem(.memberMissing, subject: .member(name.description))
        }
        return try self.value(value, name, bound)
    }

    mutating func callAsFunction<V: RequestValue>(
        _ name: StaticString, _ bound: ClosedRange<Int>?, _ detail: @autoclosure () -> JSONSchema
    ) throws(Problem) -> V? {
        guard let value = try take(name) else { return nil }
        return try self.value(value, name, bound)
    }

    mutating func callAsFunction<V>(
        _ name: StaticString, _ schema: @autoclosure () -> JSONSchema, isRequired: Bool,
        reading read: (JSONValue) throws(Problem) -> V?
    ) throws(Problem) -> V? {
        guard let value = try take(name) else { return nil }
        return try read(value)
    }
}

extension JSONError {
    fileprivate var bodyProblem: Problem {
        code == .characterNotAllowed ? Problem(.characterNotAllowed) : Problem(.bodyNotJSON)
    }
}

/// Lists the members of a request for its schema.
private struct RequestListing: RequestCourse {
    private var required: [JSONValue] = []
    private var properties: [(String, JSONValue)] = []
    private var components: [JSONSchema.Component] = []

    var names: [String] { properties.map(\.0) }

    func schema(ignoresUnknown: Bool, _ text: String) -> JSONSchema {
        let schema = JSONSchema.object(required: required, properties: properties, components: components)
        return (ignoresUnknown ? schema : schema.with(["additionalProperties": false]))
            .with(JSONSchema(stringLiteral: text))
    }

    private mutating func add(_ name: StaticString, _ schema: JSONSchema) {
        precondition(!names.contains(name.description), "a member is declared twice")
        properties.append((name.description, .object(schema.keywords)))
        components += schema.components
    }

    private static func schema<V: RequestValue>(of type: V.Type, _ bound: ClosedRange<Int>?) -> JSONSchema {
        bound.map { V.requestSchema.with(V.schema(of: $0)) } ?? V.requestSchema
    }

    mutating func required<V: RequestValue>(
        _ name: StaticString, _ bound: ClosedRange<Int>?, _ detail: @autoclosure () -> JSONSchema
    ) -> V {
        required.append(.string(name.description))
        add(name, Self.schema(of: V.self, bound).with(detail()))
        return V.sample
    }

    mutating func callAsFunction<V: RequestValue>(
        _ name: StaticString, _ bound: ClosedRange<Int>?, _ detail: @autoclosure () -> JSONSchema
    ) -> V? {
        add(name, Self.schema(of: V.self, bound).orNull.with(detail()))
        return nil
    }

    mutating func callAsFunction<V>(
        _ name: StaticString, _ schema: @autoclosure () -> JSONSchema, isRequired: Bool,
        reading read: (JSONValue) throws(Problem) -> V?
    ) -> V? {
        if isRequired { required.append(.string(name.description)) }
        add(name, schema())
        return nil
    }
}

/// A string of at least one byte.
extension String: RequestValue {
    static var requestSchema: JSONSchema { ["type": "string", "minLength": 1] }
    static func schema(of bound: ClosedRange<Int>) -> JSONSchema { .length(bound) }
    static var sample: String { "" }

    init?(_ value: JSONValue, within bound: ClosedRange<Int>?) {
        guard case .string(let text) = value, !text.isEmpty, bound?.contains(text.utf8.count) ?? true else {
            return nil
        }
        self = text
    }
}

extension Bool: RequestValue {
    static var requestSchema: JSONSchema { schema }
    static func schema(of bound: ClosedRange<Int>) -> JSONSchema { "" }
    static var sample: Bool { false }

    init?(_ value: JSONValue, within bound: ClosedRange<Int>?) {
        guard let bool = value.bool else { return nil }
        self = bool
    }
}

/// A list of non-empty strings. `null` is not allowed as an element.
extension [String]: RequestValue {
    static var requestSchema: JSONSchema { .array(of: .text) }
    static func schema(of bound: ClosedRange<Int>) -> JSONSchema {
        ["minItems": .integer(Int64(bound.lowerBound)), "maxItems": .integer(Int64(bound.upperBound))]
    }
    static var sample: [String] { [] }

    init?(_ value: JSONValue, within bound: ClosedRange<Int>?) {
        guard let elements = value.array, bound?.contains(elements.count) ?? true else { return nil }
        var texts: [String] = []
        texts.reserveCapacity(elements.count)
        for element in elements {
            guard let text = String(element, within: nil) else { return nil }
            texts.append(text)
        }
        self = texts
    }
}

extension Moment: RequestValue {
    static var requestSchema: JSONSchema { ["type": "string", "format": "date-time"] }
    static func schema(of bound: ClosedRange<Int>) -> JSONSchema { "" }
    static var sample: Moment { .last }

    init?(_ value: JSONValue, within bound: ClosedRange<Int>?) {
        guard let text = value.string else { return nil }
        self.init(rfc3339: text)
    }
}

/// A string from a fixed list.
protocol RequestWord: RequestValue, RawRepresentable<String>, CaseIterable {}

extension RequestWord {
    static var requestSchema: JSONSchema {
        ["type": "string", "enum": .array(allCases.map { .string($0.rawValue) })]
    }
    static func schema(of bound: ClosedRange<Int>) -> JSONSchema { "" }
    static var sample: Self { allCases[allCases.startIndex] }

    init?(_ value: JSONValue, within bound: ClosedRange<Int>?) {
        guard let text = value.string else { return nil }
        self.init(rawValue: text)
    }
}

extension JSONSchema {
    /// The schema of a string of at least one character, without U+0000.
    static var text: JSONSchema {
        .component("Text") { ["type": "string", "minLength": 1, "pattern": #"^[^\x00]+$"#] }
    }

    static func optionalText(_ text: String = "") -> JSONSchema {
        component("OptionalText") {
            ["type": ["string", "null"], "minLength": 1, "pattern": #"^[^\x00]+$"#]
        }
        .with(JSONSchema(stringLiteral: text))
    }

    /// The schema of any value in one of Apple's objects.
    static var anyValue: JSONSchema {
        .component("AnyValue") {
            "Any JSON value without U+0000 in strings, nested at most seven levels deep."
        }
    }

    /// The schema of a member name in one of Apple's objects.
    static let anyName: JSONValue = ["pattern": #"^[^\x00]*$"#]
}
