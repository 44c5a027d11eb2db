import StrictJSON

/// The members of a control request, which are read one by one. Members that were not read are refused at the
/// end, so that a misspelled name is an error. `null` counts as absent.
struct ControlBody {
    /// In bytes.
    static let limit = 64 * 1024

    private var rest: JSONObject

    /// An empty body counts as `{}`. Throws `.bodyMalformed`.
    init(_ body: [UInt8]) throws(GoogleEmulatorError) {
        if body.isEmpty {
            rest = JSONObject()
            return
        }
        guard let object = (try? JSONValue(parsing: body))?.object else {
            throw GoogleEmulatorError(.bodyMalformed, detail: "not one strict JSON object")
        }
        rest = object
    }

    /// Throws `.memberUnknown` when a member was not read.
    func finish() throws(GoogleEmulatorError) {
        guard let (name, _) = rest.members.first else { return }
        throw GoogleEmulatorError(.memberUnknown, detail: String(name.prefix(64)))
    }

    mutating func string(_ name: String, maximum: Int = 2048) throws(GoogleEmulatorError) -> String? {
        guard let value = take(name) else { return nil }
        guard let string = value.string, string.utf8.count <= maximum else {
            throw GoogleEmulatorError(
                .memberMalformed, detail: "\(name): a string of at most \(maximum) bytes")
        }
        return string
    }

    mutating func required(_ name: String, maximum: Int = 2048) throws(GoogleEmulatorError) -> String {
        guard let value = try string(name, maximum: maximum) else {
            throw GoogleEmulatorError(.memberMalformed, detail: "\(name): a string is needed")
        }
        return value
    }

    mutating func bool(_ name: String) throws(GoogleEmulatorError) -> Bool? {
        guard let value = take(name) else { return nil }
        guard let bool = value.bool else {
            throw GoogleEmulatorError(.memberMalformed, detail: "\(name): true or false")
        }
        return bool
    }

    mutating func integer(
        _ name: String, in range: ClosedRange<Int64>
    ) throws(GoogleEmulatorError) -> Int64? {
        guard let value = take(name) else { return nil }
        guard let integer = value.integer, range.contains(integer) else {
            throw GoogleEmulatorError(.memberMalformed, detail: "\(name): an integer in \(range)")
        }
        return integer
    }

    /// Reads one of a closed list of values.
    mutating func word<Word: RawRepresentable<String> & CaseIterable>(
        _ name: String, _ type: Word.Type
    ) throws(GoogleEmulatorError) -> Word? {
        guard let text = try string(name) else { return nil }
        guard let word = Word(rawValue: text) else {
            let words = Word.allCases.map(\.rawValue).joined(separator: ", ")
            throw GoogleEmulatorError(.memberMalformed, detail: "\(name): one of \(words)")
        }
        return word
    }

    private mutating func take(_ name: String) -> JSONValue? {
        defer { rest[name] = nil }
        let value = rest[name]
        return value == .null ? nil : value
    }
}
