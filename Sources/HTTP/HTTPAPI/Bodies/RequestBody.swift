import StrictJSON

/// Reads the JSON object of a request strictly: no type is converted, no name may come twice, and an unknown
/// name is an error. A known member that is `null` is absent, because serializers of many languages write
/// `null` for a value that is not set.
///
/// The reader is strict, because a misspelled `nonce` that was ignored would switch a check off.
struct RequestBody {
    private var reader: JSONReader

    /// Throws `body_not_json`. The calls that read on can also throw `character_not_allowed`.
    init(_ bytes: [UInt8], limits: JSONLimits = JSONLimits()) throws(Problem) {
        reader = JSONReader(bytes, limits: limits)
        do throws(JSONError) {
            try reader.beginObject()
        } catch {
            throw error.bodyProblem
        }
    }

    /// Returns the name of the next member. `nil` at the end of the object, which is also the end of the
    /// body.
    mutating func next() throws(Problem) -> JSONName? {
        do throws(JSONError) {
            let name = try reader.nextMember()
            if name == nil { try reader.finish() }
            return name
        } catch {
            throw error.bodyProblem
        }
    }

    /// Reads a string of at least one byte, or `nil` for `null`. Throws `member_malformed` with `name` as its
    /// subject.
    mutating func string(_ name: String) throws(Problem) -> String? {
        guard try isPresent(.string, name) else { return nil }
        let text = try read { (reader) throws(JSONError) in try reader.readString() }
        guard !text.isEmpty else { throw Problem(.memberMalformed, subject: .member(name)) }
        return text
    }

    mutating func bool(_ name: String) throws(Problem) -> Bool? {
        guard try isPresent(.bool, name) else { return nil }
        return try read { (reader) throws(JSONError) in try reader.readBool() }
    }

    /// Reads a list of 1 to `most` non-empty strings, or `nil` for `null`. The list itself must not contain
    /// `null`.
    mutating func strings(_ name: String, atMost most: Int) throws(Problem) -> [String]? {
        guard try isPresent(.array, name) else { return nil }
        var strings: [String] = []
        try read { (reader) throws(JSONError) in try reader.beginArray() }
        while try read({ (reader) throws(JSONError) in try reader.nextElement() }) {
            guard let text = try string(name), strings.count < most else {
                throw Problem(.memberMalformed, subject: .member(name))
            }
            strings.append(text)
        }
        guard !strings.isEmpty else { throw Problem(.memberMalformed, subject: .member(name)) }
        return strings
    }

    /// Reads a value that Apple made, as a tree, or `nil` for `null`.
    mutating func value() throws(Problem) -> JSONValue? {
        let value = try read { (reader) throws(JSONError) in try reader.readValue() }
        return value == .null ? nil : value
    }

    /// Skips a value that has no meaning here.
    mutating func skip() throws(Problem) {
        try read { (reader) throws(JSONError) in try reader.skipValue() }
    }

    /// Returns `false` for `null`, and skips it. Throws `member_malformed` for any kind but the expected one.
    private mutating func isPresent(_ kind: JSONKind, _ name: String) throws(Problem) -> Bool {
        let found = try read { (reader) throws(JSONError) in try reader.peekKind() }
        if found == kind { return true }
        guard found == .null else { throw Problem(.memberMalformed, subject: .member(name)) }
        try read { (reader) throws(JSONError) in try reader.readNull() }
        return false
    }

    @discardableResult
    private mutating func read<Value>(
        _ body: (inout JSONReader) throws(JSONError) -> Value
    ) throws(Problem) -> Value {
        do throws(JSONError) {
            return try body(&reader)
        } catch {
            throw error.bodyProblem
        }
    }
}

extension JSONError {
    /// The problem for an error of the JSON reader in the body of a request.
    fileprivate var bodyProblem: Problem {
        code == .characterNotAllowed ? Problem(.characterNotAllowed) : Problem(.bodyNotJSON)
    }
}
