import JOSE

/// Reads the JSON object of a request strictly: types are never bent, nothing is repeated, nothing unknown ignored.
///
/// A misspelled `nonce` that was ignored would switch a check off.
struct RequestBody {
    private var reader: JSONReader

    /// Throws `body_not_json`.
    init(_ bytes: [UInt8], limits: JSONLimits = JSONLimits()) throws(Problem) {
        reader = JSONReader(bytes, limits: limits)
        do throws(JOSEError) {
            try reader.beginObject()
        } catch {
            throw Problem(.bodyNotJSON)
        }
    }

    /// The name of the next member; `nil` when the object, and with it the body, has ended.
    mutating func next() throws(Problem) -> JSONName? {
        do throws(JOSEError) {
            let name = try reader.nextMember()
            if name == nil { try reader.finish() }
            return name
        } catch {
            throw Problem(.bodyNotJSON)
        }
    }

    /// A string of at least one byte. Throws `member_malformed` naming `name`.
    mutating func string(_ name: String) throws(Problem) -> String {
        try require(.string, name)
        let text = try read { (reader) throws(JOSEError) in try reader.readString() }
        guard !text.isEmpty else { throw Problem(.memberMalformed, subject: .member(name)) }
        return text
    }

    mutating func bool(_ name: String) throws(Problem) -> Bool {
        try require(.bool, name)
        return try read { (reader) throws(JOSEError) in try reader.readBool() }
    }

    /// A list of 1 to `most` non-empty strings.
    mutating func strings(_ name: String, atMost most: Int) throws(Problem) -> [String] {
        try require(.array, name)
        var strings: [String] = []
        try read { (reader) throws(JOSEError) in try reader.beginArray() }
        while try read({ (reader) throws(JOSEError) in try reader.nextElement() }) {
            let text = try string(name)
            guard strings.count < most else { throw Problem(.memberMalformed, subject: .member(name)) }
            strings.append(text)
        }
        guard !strings.isEmpty else { throw Problem(.memberMalformed, subject: .member(name)) }
        return strings
    }

    /// An object of somebody else's making, as a tree.
    mutating func object(_ name: String) throws(Problem) -> JSONObject {
        try require(.object, name)
        let value = try read { (reader) throws(JOSEError) in try reader.readValue() }
        guard let object = value.object else { throw Problem(.memberMalformed, subject: .member(name)) }
        return object
    }

    /// Passes over a value that does not matter here.
    mutating func skip() throws(Problem) {
        try read { (reader) throws(JOSEError) in try reader.skipValue() }
    }

    private mutating func require(_ kind: JSONKind, _ name: String) throws(Problem) {
        let found = try read { (reader) throws(JOSEError) in try reader.peekKind() }
        guard found == kind else { throw Problem(.memberMalformed, subject: .member(name)) }
    }

    @discardableResult
    private mutating func read<Value>(
        _ body: (inout JSONReader) throws(JOSEError) -> Value
    ) throws(Problem) -> Value {
        do throws(JOSEError) {
            return try body(&reader)
        } catch {
            throw Problem(.bodyNotJSON)
        }
    }
}
