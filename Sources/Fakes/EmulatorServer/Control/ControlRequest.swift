package import Hummingbird
import NIOCore
package import StrictJSON

/// A request to the control API: path parameters, query and body.
package struct ControlRequest {
    package let query: Parameters
    private let parameters: Parameters
    private let body: [UInt8]

    /// Reads the whole body. Throws `NIOTooManyBytesError` for a body longer than `ControlInput.bodyLimit`.
    package init(_ request: Request, _ context: some RequestContext) async throws {
        query = request.uri.queryParameters
        parameters = context.parameters
        let buffer = try await request.body.collect(upTo: ControlInput.bodyLimit)
        body = Array(buffer.readableBytesView)
    }

    /// Reads the members of the body with `read`, and refuses all other members.
    package func input<Value>(
        _ read: (inout ControlInput) throws(EmulatorError) -> Value
    ) throws(EmulatorError) -> Value {
        var input = try ControlInput(body)
        let value = try read(&input)
        try input.finish()
        return value
    }

    /// Refuses all members, for requests whose body must be empty or an empty object.
    package func requireNoInput() throws(EmulatorError) {
        try ControlInput(body).finish()
    }

    package func pathPart(_ name: String) -> String { parameters.get(name) ?? "" }

    package func number(
        _ name: String, in range: ClosedRange<Int>, default fallback: Int
    ) throws(EmulatorError) -> Int {
        guard let text = query[Substring(name)] else { return fallback }
        guard let number = Int(text), range.contains(number) else {
            throw EmulatorError(.parameterMalformed, detail: "\(name): \(range)")
        }
        return number
    }
}

/// The members of a control request, read one by one. `finish` refuses members that were not read, so a
/// misspelled name is an error. A known member that is `null` counts as absent.
package struct ControlInput {
    /// Maximum body size in bytes. It limits the cost of one request.
    package static let bodyLimit = 64 * 1024
    private static let limits = JSONLimits(depth: 16, members: 128)

    private var rest: JSONObject

    /// Reads one strict JSON object; an empty body counts as `{}`. Throws `.bodyMalformed` or
    /// `.characterNotAllowed`.
    package init(_ body: [UInt8]) throws(EmulatorError) {
        if body.isEmpty {
            rest = JSONObject()
            return
        }
        let value: JSONValue
        do throws(JSONError) {
            value = try JSONValue(parsing: body, limits: Self.limits)
        } catch {
            guard error.code != .characterNotAllowed else {
                throw EmulatorError(.characterNotAllowed, detail: "a string has U+0000; remove it")
            }
            throw EmulatorError(.bodyMalformed, detail: "not one strict JSON object")
        }
        guard let object = value.object else {
            throw EmulatorError(.bodyMalformed, detail: "not one strict JSON object")
        }
        rest = object
    }

    /// Throws `.memberUnknown` if any member was not read.
    package func finish() throws(EmulatorError) {
        guard let (name, _) = rest.members.first else { return }
        throw EmulatorError(.memberUnknown, detail: String(name.prefix(64)))
    }

    package mutating func value(_ name: String) -> JSONValue? {
        defer { rest[name] = nil }
        let value = rest[name]
        return value == .null ? nil : value
    }

    package mutating func string(_ name: String, maximum: Int = 1024) throws(EmulatorError) -> String? {
        guard let value = value(name) else { return nil }
        guard let string = value.string, string.utf8.count <= maximum else {
            throw EmulatorError(.memberMalformed, detail: "\(name): a string of at most \(maximum) bytes")
        }
        return string
    }

    package mutating func required(_ name: String, maximum: Int = 1024) throws(EmulatorError) -> String {
        guard let value = try string(name, maximum: maximum) else {
            throw EmulatorError(.memberMalformed, detail: "\(name): a string is needed")
        }
        return value
    }

    package mutating func bool(_ name: String) throws(EmulatorError) -> Bool? {
        guard let value = value(name) else { return nil }
        guard let bool = value.bool else {
            throw EmulatorError(.memberMalformed, detail: "\(name): true or false")
        }
        return bool
    }

    package mutating func integer(
        _ name: String, in range: ClosedRange<Int64> = Int64.min...Int64.max
    ) throws(EmulatorError) -> Int64? {
        guard let value = value(name) else { return nil }
        guard let integer = value.integer, range.contains(integer) else {
            throw EmulatorError(.memberMalformed, detail: "\(name): an integer in \(range)")
        }
        return integer
    }

    package mutating func object(_ name: String) throws(EmulatorError) -> JSONObject? {
        guard let value = value(name) else { return nil }
        guard let object = value.object else {
            throw EmulatorError(.memberMalformed, detail: "\(name): an object")
        }
        return object
    }

    package mutating func strings(_ name: String) throws(EmulatorError) -> [String]? {
        guard let value = value(name) else { return nil }
        let strings = value.array?.compactMap(\.string)
        guard let strings, strings.count == value.array?.count else {
            throw EmulatorError(.memberMalformed, detail: "\(name): an array of strings")
        }
        return strings
    }

    /// Reads a value from a closed list.
    package mutating func word<Word: RawRepresentable<String> & CaseIterable>(
        _ name: String, _ type: Word.Type
    ) throws(EmulatorError) -> Word? {
        guard let text = try string(name) else { return nil }
        guard let word = Word(rawValue: text) else {
            let words = Word.allCases.map(\.rawValue).joined(separator: ", ")
            throw EmulatorError(.memberMalformed, detail: "\(name): one of \(words)")
        }
        return word
    }
}
