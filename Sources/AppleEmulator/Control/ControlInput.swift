import StrictJSON

/// The members of a control request, which are read one by one. Members that were not read are refused at the
/// end, so that a misspelled name is an error. A known member that is `null` counts as absent.
struct ControlInput {
    /// In bytes. It limits the cost of one request.
    static let bodyLimit = 64 * 1024
    private static let limits = JSONLimits(depth: 16, members: 128)

    private var rest: JSONObject

    /// Reads one strict JSON object; an empty body counts as `{}`. Throws `.bodyMalformed` or
    /// `.characterNotAllowed`.
    init(_ body: [UInt8]) throws(EmulatorError) {
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

    /// Throws `.memberUnknown` when a member was not read.
    func finish() throws(EmulatorError) {
        guard let (name, _) = rest.members.first else { return }
        throw EmulatorError(.memberUnknown, detail: String(name.prefix(64)))
    }

    mutating func value(_ name: String) -> JSONValue? {
        defer { rest[name] = nil }
        let value = rest[name]
        return value == .null ? nil : value
    }

    mutating func string(_ name: String, maximum: Int = 1024) throws(EmulatorError) -> String? {
        guard let value = value(name) else { return nil }
        guard let string = value.string, string.utf8.count <= maximum else {
            throw EmulatorError(.memberMalformed, detail: "\(name): a string of at most \(maximum) bytes")
        }
        return string
    }

    mutating func bool(_ name: String) throws(EmulatorError) -> Bool? {
        guard let value = value(name) else { return nil }
        guard let bool = value.bool else {
            throw EmulatorError(.memberMalformed, detail: "\(name): true or false")
        }
        return bool
    }

    mutating func integer(
        _ name: String, in range: ClosedRange<Int64> = Int64.min...Int64.max
    ) throws(EmulatorError) -> Int64? {
        guard let value = value(name) else { return nil }
        guard let integer = value.integer, range.contains(integer) else {
            throw EmulatorError(.memberMalformed, detail: "\(name): an integer in \(range)")
        }
        return integer
    }

    mutating func object(_ name: String) throws(EmulatorError) -> JSONObject? {
        guard let value = value(name) else { return nil }
        guard let object = value.object else {
            throw EmulatorError(.memberMalformed, detail: "\(name): an object")
        }
        return object
    }

    mutating func strings(_ name: String) throws(EmulatorError) -> [String]? {
        guard let value = value(name) else { return nil }
        let strings = value.array?.compactMap(\.string)
        guard let strings, strings.count == value.array?.count else {
            throw EmulatorError(.memberMalformed, detail: "\(name): an array of strings")
        }
        return strings
    }

    /// Reads one of a closed list of values.
    mutating func word<Word: RawRepresentable<String> & CaseIterable>(
        _ name: String, _ type: Word.Type
    ) throws(EmulatorError) -> Word? {
        guard let text = try string(name) else { return nil }
        guard let word = Word(rawValue: text) else {
            let words = Word.allCases.map(\.rawValue).joined(separator: ", ")
            throw EmulatorError(.memberMalformed, detail: "\(name): one of \(words)")
        }
        return word
    }

    /// Reads a secret: `true` generates one, a string is used as it is.
    mutating func secret(_ name: String) throws(EmulatorError) -> BoundSecret {
        switch value(name) {
        case nil, .bool(false)?: return .none
        case .bool(true)?: return .made
        case .string(let secret)?: return .given(secret)
        default: throw EmulatorError(.memberMalformed, detail: "\(name): a string, or true to generate one")
        }
    }
}
