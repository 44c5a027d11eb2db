// StrictJSON owns reading and writing JSON: a strict reader with limits, a writer, and a tree for code
// outside the hot path. It does not own any of this service's documents.

public import Encodings

/// A strict single-pass pull parser for JSON (RFC 8259, with the restrictions of I-JSON, RFC 7493 §2).
///
/// The reader refuses input that lenient decoders accept: duplicate members (even if the names contain
/// escapes), a byte order mark, encodings other than UTF-8, trailing commas, trailing bytes, lone surrogates,
/// U+0000, and any document beyond `JSONLimits`. It does not build a tree; `JSONValue` does.
public struct JSONReader {
    let bytes: [UInt8]
    var position = 0
    private let limits: JSONLimits
    /// Member names of all open objects, with the innermost object's names last.
    private var names: [JSONName] = []
    /// Number of open containers.
    private var depth = 0
    /// Index in `names` at which the innermost open container's names begin.
    private var firstName = 0
    /// Indices in `names` at which the enclosing containers' names begin.
    private var outerFirstNames: [Int] = []
    /// True if the reader has opened a container but has not yet read anything in it.
    private var isFirst = false

    public init(_ bytes: [UInt8], limits: JSONLimits = JSONLimits()) {
        self.bytes = bytes
        self.limits = limits
        names.reserveCapacity(16)
    }

    /// Position of the next value. After `finish`, a caller may set an earlier position to read a value that
    /// was skipped.
    public var place: Int {
        get { position }
        set { position = newValue }
    }

    /// Returns the kind of the next value. It consumes only white space.
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

    /// Returns the name of the next member, or `nil` at the end of the object.
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

    /// Returns true if another element follows, and false at the end of the array.
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

    /// Skips one value of any kind, but still checks all of its bytes.
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

    /// Refuses anything except white space after the outermost value. Callers must call it after that value.
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
        // A value must follow, because `{"a":1,}` is not JSON, although Foundation accepts it.
        skipWhiteSpace()
        guard byte != bracket else { throw invalid("trailing comma") }
        return true
    }

    /// The byte at the position, or 0 at the end of the input, because JSON never contains U+0000.
    var byte: UInt8 { position < bytes.count ? bytes[position] : 0 }

    @inline(__always)
    mutating func skipWhiteSpace() {
        // Apple writes no white space, so this test saves the call in most cases.
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

/// Limits on the cost of reading a JSON document.
public struct JSONLimits: Sendable {
    /// Largest nesting depth of objects and arrays.
    public let depth: Int
    /// The maximum number of members in an object. The reader finds duplicates by comparing names pairwise,
    /// so this limit also bounds the cost of that search.
    public let members: Int

    public init(depth: Int = 8, members: Int = 64) {
        (self.depth, self.members) = (depth, members)
    }
}

/// Kind of the next JSON value (RFC 8259 §3).
public enum JSONKind: Sendable {
    case object, array, string, number, bool, null
}

/// Reason a document is refused.
///
/// `detail` names a byte position or a rule, and may repeat part of the document, so it is only for
/// debugging, never for a log or a response.
public struct JSONError: CodedError {
    public enum Code: String, Sendable, CaseIterable {
        /// The document is not strict JSON, or exceeds one of the reader's limits.
        case jsonInvalid = "json_invalid"
        /// A string contains U+0000, which PostgreSQL refuses and at which C ends a string.
        case characterNotAllowed = "character_not_allowed"
    }

    public let code: Code
    public let detail: String

    public init(_ code: Code, detail: String = "") {
        (self.code, self.detail) = (code, detail)
    }
}

extension JSONError: CustomDebugStringConvertible {
    public var description: String { "JSON: \(code.rawValue)" }
    public var debugDescription: String { "\(description) (\(detail))" }
}

extension JSONReader {
    /// Reads the string at the position.
    mutating func readText() throws(JSONError) -> JSONText {
        guard byte == UInt8(ascii: "\"") else { throw invalid("no string at byte \(position)") }
        position += 1
        let start = position
        position = bytes.withUnsafeBytes { WordScan.endOfPlainASCII(in: $0, from: start) }
        if byte < 0x80 { return try finishText(from: start) }
        position = bytes.withUnsafeBytes { WordScan.endOfPlainText(in: $0, from: position) }
        let text = try finishText(from: start)
        if case .part(let range) = text { try requireUTF8(bytes[range]) }
        return text
    }

    func withBytes<Value>(of text: JSONText, _ body: (UnsafeRawBufferPointer) -> Value) -> Value {
        switch text {
        case .part(let range): bytes.withUnsafeBytes { body(UnsafeRawBufferPointer(rebasing: $0[range])) }
        case .decoded(let copy): copy.withUnsafeBytes(body)
        }
    }

    /// Reads the rest of a string, beginning at the first byte that is not plain.
    private mutating func finishText(from start: Int) throws(JSONError) -> JSONText {
        guard position < bytes.count else { throw invalid("unterminated string") }
        switch byte {
        case UInt8(ascii: "\""):
            defer { position += 1 }
            return .part(start..<position)
        case UInt8(ascii: "\\"): return .decoded(try readEscapedString(from: start))
        default: throw controlCharacter(byte)
        }
    }

    private mutating func readEscapedString(from start: Int) throws(JSONError) -> [UInt8] {
        var text = Array(bytes[start..<position])
        while position < bytes.count {
            let byte = bytes[position]
            position += 1
            switch byte {
            case UInt8(ascii: "\""):
                try requireUTF8(text[...])
                return text
            case UInt8(ascii: "\\"):
                try appendEscape(to: &text)
            case 0..<0x20: throw controlCharacter(byte)
            default:
                text.append(byte)
            }
        }
        throw invalid("unterminated string")
    }

    private mutating func appendEscape(to text: inout [UInt8]) throws(JSONError) {
        let escape = byte
        position += 1
        switch escape {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(escape)
        case UInt8(ascii: "b"): text.append(0x08)
        case UInt8(ascii: "f"): text.append(0x0C)
        case UInt8(ascii: "n"): text.append(0x0A)
        case UInt8(ascii: "r"): text.append(0x0D)
        case UInt8(ascii: "t"): text.append(0x09)
        case UInt8(ascii: "u"): text.append(contentsOf: String(try readEscapedScalar()).utf8)
        default: throw invalid("unknown escape")
        }
    }

    private mutating func readEscapedScalar() throws(JSONError) -> Unicode.Scalar {
        var value = try readFourHexDigits()
        if (0xD800..<0xDC00).contains(value) {
            guard byte == UInt8(ascii: "\\") else { throw invalid("lone surrogate") }
            position += 1
            guard byte == UInt8(ascii: "u") else { throw invalid("lone surrogate") }
            position += 1
            let low = try readFourHexDigits()
            guard (0xDC00..<0xE000).contains(low) else { throw invalid("lone surrogate") }
            value = 0x10000 + (value - 0xD800) << 10 + (low - 0xDC00)
        }
        // PostgreSQL refuses U+0000, and C ends a string at it, so the reader refuses it too.
        guard value != 0 else { throw controlCharacter(0) }
        guard let scalar = Unicode.Scalar(value) else { throw invalid("character not allowed") }
        return scalar
    }

    /// Returns an error for a control character. U+0000 has its own code, whether escaped or not, because it
    /// comes from the caller's data rather than from the caller's JSON encoder.
    private func controlCharacter(_ byte: UInt8) -> JSONError {
        byte == 0
            ? JSONError(.characterNotAllowed, detail: "U+0000 in a string")
            : invalid("control character in a string")
    }

    private mutating func readFourHexDigits() throws(JSONError) -> UInt32 {
        var value: UInt32 = 0
        for _ in 0..<4 {
            let digit: UInt8
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = byte - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = byte - UInt8(ascii: "a") + 10
            case UInt8(ascii: "A")...UInt8(ascii: "F"): digit = byte - UInt8(ascii: "A") + 10
            default: throw invalid("bad \\u escape")
            }
            value = value << 4 | UInt32(digit)
            position += 1
        }
        return value
    }

    private func requireUTF8(_ text: ArraySlice<UInt8>) throws(JSONError) {
        guard String(validating: text, as: UTF8.self) != nil else { throw invalid("not UTF-8") }
    }
}

/// UTF-8 text of a string in a document.
enum JSONText {
    /// A byte range of the document.
    case part(Range<Int>)
    /// A decoded copy of a string that contains escapes.
    case decoded([UInt8])
}

extension JSONReader {
    /// Reads a number according to the grammar in RFC 8259 §6, without any conversion that could trap, round
    /// or overflow.
    public mutating func readNumber() throws(JSONError) -> JSONNumber {
        skipWhiteSpace()
        let start = position
        let isNegative = byte == UInt8(ascii: "-")
        if isNegative { position += 1 }
        let digits = position
        try skipDigits()
        guard bytes[digits] != UInt8(ascii: "0") || position == digits + 1 else {
            throw invalid("leading zero")
        }
        var isInteger = true
        if byte == UInt8(ascii: ".") {
            isInteger = false
            position += 1
            try skipDigits()
        }
        if byte == UInt8(ascii: "e") || byte == UInt8(ascii: "E") {
            isInteger = false
            position += 1
            if byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-") { position += 1 }
            try skipDigits()
        }
        if isInteger, let value = integer(bytes[digits..<position], isNegative: isNegative) {
            return .integer(value)
        }
        return .other(String(decoding: bytes[start..<position], as: UTF8.self))
    }

    private mutating func skipDigits() throws(JSONError) {
        let start = position
        while byte >= UInt8(ascii: "0"), byte <= UInt8(ascii: "9") { position += 1 }
        guard position > start else { throw invalid("no digit at byte \(position)") }
    }

    /// Returns the value of the digits, or `nil` if it does not fit into 64 bits.
    private func integer(_ digits: ArraySlice<UInt8>, isNegative: Bool) -> Int64? {
        var value: Int64 = 0
        for digit in digits {
            let (product, overflow) = value.multipliedReportingOverflow(by: 10)
            // The loop counts downward from zero, because Int64.min has no positive counterpart.
            let (difference, underflow) = product.subtractingReportingOverflow(
                Int64(digit - UInt8(ascii: "0")))
            if overflow || underflow { return nil }
            value = difference
        }
        if isNegative { return value }
        return value == Int64.min ? nil : -value
    }
}

/// A JSON number without loss of precision: an exact 64-bit integer, or the text of any other number.
///
/// `1e3` and `1.0` are not treated as integers, because Apple never writes such numbers, and other readers
/// could round them differently.
public enum JSONNumber: Sendable, Equatable {
    case integer(Int64)
    case other(String)
}
