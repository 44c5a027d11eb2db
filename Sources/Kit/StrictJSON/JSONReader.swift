// StrictJSON owns reading and writing JSON: a strict reader with limits, a writer, and a tree for everything
// that is not on the hot path. It does not own any document of this service.

/// A strict single-pass pull parser for JSON (RFC 8259, with the restrictions of I-JSON, RFC 7493 §2).
///
/// It refuses input that lenient decoders accept: duplicate members (also when written with escapes), a byte
/// order mark, other encodings than UTF-8, trailing commas, trailing bytes, lone surrogates, U+0000, and any
/// document beyond `JSONLimits`. It does not build a tree; `JSONValue` does.
public struct JSONReader {
    let bytes: [UInt8]
    var position = 0
    private let limits: JSONLimits
    /// The names in all open objects, the innermost last.
    private var names: [JSONName] = []
    /// The number of open containers.
    private var depth = 0
    /// The start of the innermost open container's names in `names`.
    private var firstName = 0
    /// Starts of the names of the enclosing containers.
    private var outerFirstNames: [Int] = []
    /// Indicates that a container was opened and nothing in it has been read yet.
    private var isFirst = false

    public init(_ bytes: [UInt8], limits: JSONLimits = JSONLimits()) {
        self.bytes = bytes
        self.limits = limits
        names.reserveCapacity(16)
    }

    /// Returns the kind of the next value. Consumes only white space.
    public mutating func peekKind() throws(JSONError) -> JSONKind {
        skipWhiteSpace()
        switch byte {
        case UInt8(ascii: "{"): return .object
        case UInt8(ascii: "["): return .array
        case UInt8(ascii: "\""): return .string
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"): return .number
        case UInt8(ascii: "t"), UInt8(ascii: "f"): return .bool
        case UInt8(ascii: "n"): return .null
        default: throw invalid("no value at byte \(position)")
        }
    }

    public mutating func beginObject() throws(JSONError) {
        try begin(UInt8(ascii: "{"))
    }

    /// Returns the name of the next member, or `nil` when the object has ended.
    public mutating func nextMember() throws(JSONError) -> JSONName? {
        guard try advance(closing: UInt8(ascii: "}")) else { return nil }
        let text = try readText()
        let name =
            switch text {
            case .part(let range): bytes.withUnsafeBytes { JSONName($0, range) }
            case .decoded(let copy): copy.withUnsafeBytes { JSONName($0) }
            }
        guard names.count - firstName < limits.members else { throw invalid("too many members") }
        for index in firstName..<names.count where names[index] == name {
            throw invalid("duplicate member")
        }
        names.append(name)
        skipWhiteSpace()
        guard byte == UInt8(ascii: ":") else { throw invalid("no colon at byte \(position)") }
        position += 1
        return name
    }

    public mutating func beginArray() throws(JSONError) {
        try begin(UInt8(ascii: "["))
    }

    /// Returns true when another element follows, and false when the array has ended.
    public mutating func nextElement() throws(JSONError) -> Bool {
        try advance(closing: UInt8(ascii: "]"))
    }

    public mutating func readString() throws(JSONError) -> String {
        skipWhiteSpace()
        let text = try readText()
        return withBytes(of: text) { String(decoding: $0, as: UTF8.self) }
    }

    public mutating func readBool() throws(JSONError) -> Bool {
        skipWhiteSpace()
        if skipLiteral("true") { return true }
        if skipLiteral("false") { return false }
        throw invalid("no boolean at byte \(position)")
    }

    public mutating func readNull() throws(JSONError) {
        skipWhiteSpace()
        guard skipLiteral("null") else { throw invalid("no null at byte \(position)") }
    }

    /// Reads one value of any kind and checks all of it.
    public mutating func skipValue() throws(JSONError) {
        switch try peekKind() {
        case .string: _ = try readText()
        case .number: _ = try readNumber()
        case .bool: _ = try readBool()
        case .null: try readNull()
        case .object:
            try beginObject()
            while try nextMember() != nil { try skipValue() }
        case .array:
            try beginArray()
            while try nextElement() { try skipValue() }
        }
    }

    /// Refuses any bytes after the outermost value except white space. Must be called after that value.
    public mutating func finish() throws(JSONError) {
        skipWhiteSpace()
        guard position == bytes.count else { throw invalid("bytes after the value") }
    }

    private mutating func begin(_ bracket: UInt8) throws(JSONError) {
        skipWhiteSpace()
        guard byte == bracket else { throw invalid("no container at byte \(position)") }
        guard depth < limits.depth else { throw invalid("nested too deeply") }
        position += 1
        if depth > 0 { outerFirstNames.append(firstName) }
        depth += 1
        firstName = names.count
        isFirst = true
    }

    private mutating func advance(closing bracket: UInt8) throws(JSONError) -> Bool {
        skipWhiteSpace()
        let wasFirst = isFirst
        isFirst = false
        guard depth > 0 else { throw invalid("no open container") }
        if byte == bracket {
            position += 1
            depth -= 1
            names.removeLast(names.count - firstName)
            firstName = outerFirstNames.popLast() ?? 0
            return false
        }
        if wasFirst { return true }
        guard byte == UInt8(ascii: ",") else { throw invalid("no comma at byte \(position)") }
        position += 1
        // A value must follow: `{"a":1,}` is not JSON, although Foundation accepts it.
        skipWhiteSpace()
        guard byte != bracket else { throw invalid("trailing comma") }
        return true
    }

    /// The byte at the position, or 0 at the end: U+0000 is not allowed anywhere in JSON text.
    var byte: UInt8 { position < bytes.count ? bytes[position] : 0 }

    @inline(__always)
    mutating func skipWhiteSpace() {
        // Apple writes no white space.
        if byte <= 0x20 { skipSomeWhiteSpace() }
    }

    private mutating func skipSomeWhiteSpace() {
        while position < bytes.count {
            switch bytes[position] {
            case 0x20, 0x09, 0x0A, 0x0D: position += 1
            default: return
            }
        }
    }

    private mutating func skipLiteral(_ literal: StaticString) -> Bool {
        let count = literal.utf8CodeUnitCount
        guard bytes.count - position >= count else { return false }
        for index in 0..<count where bytes[position + index] != literal.utf8Start[index] { return false }
        position += count
        return true
    }

    func invalid(_ detail: @autoclosure () -> String) -> JSONError {
        JSONError(.jsonInvalid, detail: detail())
    }
}

/// Limits that bound the cost of reading a JSON document.
public struct JSONLimits: Sendable {
    /// The largest nesting depth of objects and arrays.
    public let depth: Int
    /// The largest number of members of an object. Duplicates are found by comparing names pairwise, so this
    /// also limits that work.
    public let members: Int

    public init(depth: Int = 8, members: Int = 64) {
        (self.depth, self.members) = (depth, members)
    }
}

/// The type of the next JSON value (RFC 8259 §3).
public enum JSONKind: Sendable {
    case object, array, string, number, bool, null
}
