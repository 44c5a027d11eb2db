/// A JSON value, such as the body that an app has posted: `JSONDecoder().decode(JSONValue.self, from: body)`.
public enum JSONValue: Hashable, Sendable {
    case null
    case boolean(Bool)
    case integer(Int)
    case number(Double)
    case string(String)
    case array([JSONValue])
    case object([String: JSONValue])

    /// The text, or `nil` for another value.
    public var string: String? { if case .string(let text) = self { text } else { nil } }
    var boolean: Bool? { if case .boolean(let truth) = self { truth } else { nil } }
    var integer: Int? { if case .integer(let number) = self { number } else { nil } }
    var array: [JSONValue]? { if case .array(let elements) = self { elements } else { nil } }
    /// The member of an object, and `nil` without it.
    public subscript(name: String) -> JSONValue? {
        get { object?[name] }
        set {
            var members = object ?? [:]
            members[name] = newValue
            self = .object(members)
        }
    }

    var object: [String: JSONValue]? { if case .object(let members) = self { members } else { nil } }
}

extension JSONValue: Codable {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let text = try? container.decode(String.self) {
            self = .string(text)
        } else if let truth = try? container.decode(Bool.self) {
            self = .boolean(truth)
        } else if let number = try? container.decode(Int.self) {
            self = .integer(number)
        } else if let number = try? container.decode(Double.self) {
            self = .number(number)
        } else if let elements = try? container.decode([JSONValue].self) {
            self = .array(elements)
        } else {
            self = .object(try container.decode([String: JSONValue].self))
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .boolean(let truth): try container.encode(truth)
        case .integer(let number): try container.encode(number)
        case .number(let number): try container.encode(number)
        case .string(let text): try container.encode(text)
        case .array(let elements): try container.encode(elements)
        case .object(let members): try container.encode(members)
        }
    }
}

extension JSONValue: ExpressibleByStringLiteral, ExpressibleByDictionaryLiteral {
    public init(stringLiteral text: String) {
        self = .string(text)
    }

    public init(dictionaryLiteral members: (String, JSONValue)...) {
        self = .object(Dictionary(members) { $1 })
    }
}
