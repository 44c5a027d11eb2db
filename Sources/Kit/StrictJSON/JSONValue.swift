/// A JSON document as a tree, for everything that is not on the hot path.
public enum JSONValue: Sendable, Equatable {
    case null
    case bool(Bool)
    /// A number that is written as an integer and fits 64 bits.
    case integer(Int64)
    /// Any other number, as written.
    case number(String)
    case string(String)
    case array([JSONValue])
    case object(JSONObject)

    /// Parses one whole document with `JSONReader`'s strictness.
    ///
    /// Throws `.jsonInvalid` or `.characterNotAllowed`.
    public init(parsing bytes: [UInt8], limits: JSONLimits = JSONLimits()) throws(JSONError) {
        var reader = JSONReader(bytes, limits: limits)
        self = try reader.readValue()
        try reader.finish()
    }

    public var bool: Bool? { if case .bool(let value) = self { value } else { nil } }
    public var integer: Int64? { if case .integer(let value) = self { value } else { nil } }
    public var string: String? { if case .string(let value) = self { value } else { nil } }
    public var array: [JSONValue]? { if case .array(let value) = self { value } else { nil } }
    public var object: JSONObject? { if case .object(let value) = self { value } else { nil } }

    /// The member of an object; `nil` when there is none, or this is not an object.
    public subscript(name: String) -> JSONValue? { object?[name] }

    public func serialized() -> [UInt8] {
        var writer = JSONWriter()
        writer.value(self)
        return writer.bytes
    }
}

extension JSONReader {
    /// Reads one value of any kind. The recursion is bounded by `JSONLimits.depth`.
    public mutating func readValue() throws(JSONError) -> JSONValue {
        switch try peekKind() {
        case .null:
            try readNull()
            return .null
        case .bool: return .bool(try readBool())
        case .string: return .string(try readString())
        case .number:
            switch try readNumber() {
            case .integer(let value): return .integer(value)
            case .other(let text): return .number(text)
            }
        case .array:
            var elements: [JSONValue] = []
            try beginArray()
            while try nextElement() { elements.append(try readValue()) }
            return .array(elements)
        case .object:
            var object = JSONObject()
            try beginObject()
            while let name = try nextMember() { object.append(name.string, try readValue()) }
            return .object(object)
        }
    }
}
