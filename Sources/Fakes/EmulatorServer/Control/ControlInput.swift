import Hummingbird
import NIOCore
package import StrictJSON

/// The values of one control API request: parameters of the path and the query, and the members of the body.
/// A call's reader reads them one by one. The same reader lists them for the description of the API, so the
/// description cannot differ from the checks.
///
/// `finish` refuses members that were not read, so a misspelled name is an error. A known member that is
/// `null` counts as absent.
package struct ControlInput {
    /// Maximum body size in bytes. It limits the cost of one request.
    package static let bodyLimit = 64 * 1024
    private static let limits = JSONLimits(depth: 16, members: 128)

    private let parameters: Parameters
    private let query: Parameters
    private let body: [UInt8]
    /// The members that were not read yet; `nil` before the first member, because calls without members ignore
    /// the body.
    private var rest: JSONObject?
    private var missing: EmulatorError?
    /// The values that the reader has read; `nil` for a request from a client.
    private var listing: ControlListing?

    /// Reads the whole body. Throws `NIOTooManyBytesError` for a body longer than `bodyLimit`.
    init(_ request: Request, _ context: some RequestContext) async throws {
        (parameters, query) = (context.parameters, request.uri.queryParameters)
        let buffer = try await request.body.collect(upTo: Self.bodyLimit)
        body = Array(buffer.readableBytesView)
    }

    private init() { (parameters, query, body, listing) = (Parameters(), Parameters(), [], ControlListing()) }

    /// Returns all values that a reader reads. A reader must not refuse a request without any value, because
    /// it would then not read the rest.
    static func listing<Value>(
        of read: (inout ControlInput) throws(EmulatorError) -> Value
    ) -> ControlListing {
        var input = ControlInput()
        do throws(EmulatorError) {
            _ = try read(&input)
        } catch {
            assertionFailure("a reader must read all members before it refuses a request: \(error)")
        }
        return input.listing ?? ControlListing()
    }

    /// Throws `.memberUnknown` if any member was not read, and otherwise `.memberMalformed` if a required
    /// member is absent: the name of an absent member may be misspelled.
    func finish() throws(EmulatorError) {
        if let (name, _) = rest?.members.first {
            throw EmulatorError(.memberUnknown, detail: String(name.prefix(64)))
        }
        if let missing { throw missing }
    }
}

/// All values that a call reads, with their schemas.
package struct ControlListing: Sendable {
    typealias Value = (name: String, schema: JSONSchema)

    fileprivate(set) var path: [Value] = []
    fileprivate(set) var query: [Value] = []
    fileprivate(set) var members: [Value] = []
    /// Groups of members. A request must have exactly one member of each group.
    fileprivate(set) var required: [[String]] = []
}

// The path and the query.
extension ControlInput {
    /// - Parameter example: A value with which the call works on a new emulator.
    package mutating func path(_ name: String, example: String? = nil) -> String {
        let schema: JSONSchema = ["type": "string"]
        let detail: JSONSchema = example.map { ["examples": [.string($0)]] } ?? ""
        listing?.path.append((name, schema.with(detail)))
        return parameters.get(name) ?? ""
    }

    /// Reads a parameter whose values are a closed list. Callers refuse all other values.
    package mutating func path<Word: RawRepresentable<String> & CaseIterable>(
        _ name: String, _ type: Word.Type
    ) -> String {
        listing?.path.append((name, .word(type)))
        // A listed value must not be refused.
        return parameters.get(name) ?? type.allCases.first?.rawValue ?? ""
    }

    package mutating func query(_ name: String) -> String? {
        listing?.query.append((name, ["type": "string"]))
        return query[Substring(name)].map(String.init)
    }

    /// Reads a parameter whose values are a closed list. Callers refuse all other values.
    package mutating func query<Word: RawRepresentable<String> & CaseIterable>(
        _ name: String, _ type: Word.Type
    ) -> String? {
        listing?.query.append((name, .word(type)))
        return query[Substring(name)].map(String.init)
    }

    package mutating func query(
        _ name: String, in range: ClosedRange<Int>, default fallback: Int
    ) throws(EmulatorError) -> Int {
        let bounds = Int64(range.lowerBound)...Int64(range.upperBound)
        listing?.query.append(
            (name, .integer(in: bounds).with(["default": .integer(Int64(fallback))])))
        guard let text = query[Substring(name)] else { return fallback }
        guard let number = Int(text), range.contains(number) else {
            throw EmulatorError(.parameterMalformed, detail: "\(name): \(range)")
        }
        return number
    }
}

// The members of the body.
extension ControlInput {
    /// Refuses a request with members, for a call that has no members.
    package mutating func refuseMembers() throws(EmulatorError) { _ = try members() }

    /// Requires exactly one of these members, which the caller also reads.
    package mutating func require(_ names: String...) throws(EmulatorError) {
        listing?.required.append(names)
        let members = try members()
        let count = names.count { members[$0].map { $0 != .null } ?? false }
        guard count != 1 else { return }
        let refusal = EmulatorError(
            .memberMalformed,
            detail: names.count == 1
                ? "\(names[0]) is needed" : "give one of \(names.joined(separator: ", "))")
        guard count == 0 else { throw refusal }
        missing = missing ?? refusal
    }

    /// Returns true if the body has a value for this member, without reading it.
    package mutating func has(_ name: String) throws(EmulatorError) -> Bool {
        try members()[name].map { $0 != .null } ?? false
    }

    package mutating func value(
        _ name: String, _ schema: @autoclosure () -> JSONSchema
    ) throws(EmulatorError) -> JSONValue? {
        listing?.members.append((name, schema()))
        let value = try members()[name]
        rest?[name] = nil
        return value == .null ? nil : value
    }

    /// Reads one strict JSON object; an empty body counts as `{}`. Throws `.bodyMalformed` or
    /// `.characterNotAllowed`.
    private mutating func members() throws(EmulatorError) -> JSONObject {
        if let rest { return rest }
        let members = try Self.object(body)
        rest = members
        return members
    }

    private static func object(_ body: [UInt8]) throws(EmulatorError) -> JSONObject {
        if body.isEmpty { return JSONObject() }
        let value: JSONValue
        do throws(JSONError) {
            value = try JSONValue(parsing: body, limits: limits)
        } catch {
            guard error.code != .characterNotAllowed else {
                throw EmulatorError(.characterNotAllowed, detail: "a string has U+0000; remove it")
            }
            throw EmulatorError(.bodyMalformed, detail: "not one strict JSON object")
        }
        guard let object = value.object else {
            throw EmulatorError(.bodyMalformed, detail: "not one strict JSON object")
        }
        return object
    }

    package mutating func string(_ name: String, maximum: Int = 1024) throws(EmulatorError) -> String? {
        guard let value = try value(name, ["type": "string", "maxLength": .integer(Int64(maximum))])
        else { return nil }
        guard let string = value.string, string.utf8.count <= maximum else {
            throw EmulatorError(.memberMalformed, detail: "\(name): a string of at most \(maximum) bytes")
        }
        return string
    }

    package mutating func required(_ name: String, maximum: Int = 1024) throws(EmulatorError) -> String {
        try require(name)
        return try string(name, maximum: maximum) ?? ""
    }

    package mutating func bool(_ name: String) throws(EmulatorError) -> Bool? {
        guard let value = try value(name, ["type": "boolean"]) else { return nil }
        guard let bool = value.bool else {
            throw EmulatorError(.memberMalformed, detail: "\(name): true or false")
        }
        return bool
    }

    package mutating func integer(
        _ name: String, in range: ClosedRange<Int64> = Int64.min...Int64.max
    ) throws(EmulatorError) -> Int64? {
        guard let value = try value(name, .integer(in: range)) else { return nil }
        guard let integer = value.integer, range.contains(integer) else {
            throw EmulatorError(.memberMalformed, detail: "\(name): an integer in \(range)")
        }
        return integer
    }

    package mutating func object(_ name: String) throws(EmulatorError) -> JSONObject? {
        guard let value = try value(name, ["type": "object"]) else { return nil }
        guard let object = value.object else {
            throw EmulatorError(.memberMalformed, detail: "\(name): an object")
        }
        return object
    }

    package mutating func strings(_ name: String) throws(EmulatorError) -> [String]? {
        try strings(name, of: ["type": "string"])
    }

    private mutating func strings(
        _ name: String, of schema: @autoclosure () -> JSONSchema
    ) throws(EmulatorError) -> [String]? {
        guard let value = try value(name, .array(of: schema())) else { return nil }
        let strings = value.array?.compactMap(\.string)
        guard let strings, strings.count == value.array?.count else {
            throw EmulatorError(.memberMalformed, detail: "\(name): an array of strings")
        }
        return strings
    }

    /// Reads a value from a closed list.
    ///
    /// - Parameter words: The values that this call accepts.
    package mutating func word<Word: RawRepresentable<String> & CaseIterable>(
        _ name: String, _ type: Word.Type, among words: [Word] = Array(Word.allCases)
    ) throws(EmulatorError) -> Word? {
        let texts = words.map(\.rawValue)
        guard let value = try value(name, .word(among: texts)) else { return nil }
        guard let text = value.string, let word = words.first(where: { $0.rawValue == text }) else {
            throw EmulatorError(
                .memberMalformed, detail: "\(name): one of \(texts.joined(separator: ", "))")
        }
        return word
    }

    /// Reads values from a closed list.
    package mutating func words<Word: RawRepresentable<String> & CaseIterable & Hashable>(
        _ name: String, _ type: Word.Type
    ) throws(EmulatorError) -> Set<Word> {
        var words: Set<Word> = []
        for text in try strings(name, of: .word(type)) ?? [] {
            guard let word = Word(rawValue: text) else {
                let texts = Word.allCases.map(\.rawValue).joined(separator: ", ")
                throw EmulatorError(.memberMalformed, detail: "\(name): an array with any of \(texts)")
            }
            words.insert(word)
        }
        return words
    }
}

extension JSONSchema {
    fileprivate static func word<Word: RawRepresentable<String> & CaseIterable>(_ type: Word.Type) -> Self {
        word(among: type.allCases.map(\.rawValue))
    }

    fileprivate static func integer(in range: ClosedRange<Int64>) -> Self {
        let type: Self = ["type": "integer"]
        return type.with(range == Int64.min...Int64.max ? ["format": "int64"] : .within(range))
    }

    static func word(among words: [String]) -> Self {
        ["type": "string", "enum": .array(words.map { .string($0) })]
    }
}
