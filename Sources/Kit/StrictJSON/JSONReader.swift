// StrictJSON owns reading and writing JSON: a strict reader with limits, a writer, and a tree for everything
// that is not on the hot path. It does not own any document of this service.

public import Encodings

/// A strict single-pass pull parser for JSON (RFC 8259, with the restrictions of I-JSON, RFC 7493 §2).
///
/// It refuses input that lenient decoders accept: duplicate members (also when written with escapes), a byte
/// order mark, other encodings than UTF-8, trailing commas, trailing bytes, lone surrogates, U+0000, and any
/// document beyond `JSONLimits`. It does not build a tree; `JSONValue` does.
public struct JSONReader {
    let bytes: [UInt8]
    var position = 0
    private let limits: JSONLimits
    /// The names in all open objects, with the innermost object last.
    private var names: [JSONName] = []
    /// The number of open containers.
    private var depth = 0
    /// The start of the innermost open container's names in `names`.
    private var firstName = 0
    /// Starts of the names of the enclosing containers.
    private var outerFirstNames: [Int] = []
    /// True if a container was opened and nothing in it has been read yet.
    private var isFirst = false

    public init(_ bytes: [UInt8], limits: JSONLimits = JSONLimits()) {
        self.bytes = bytes
        self.limits = limits
        names.reserveCapacity(16)
    }

    /// The place of the next value. After `finish`, a caller may set it to an
    /// earlier place, to read a value that was skipped.
    public var place: Int {
        get { position }
        set { position = newValue }
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

/// Reason for the refusal of a document.
///
/// `detail` names a byte position or a rule and may repeat a part of the document: it is for a debugger,
/// never for a log or a response.
public struct JSONError: CodedError {
    public enum Code: String, Sendable, CaseIterable {
        /// Not strict JSON, or beyond the limits of the reader.
        case jsonInvalid = "json_invalid"
        /// A string contains U+0000, which is an error in PostgreSQL and the end of a string in C.
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

    /// Reads the rest of the text. Called at the first byte that is not plain.
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
        // U+0000 is an error in PostgreSQL and the end of a string in C, so it is refused here.
        guard value != 0 else { throw controlCharacter(0) }
        guard let scalar = Unicode.Scalar(value) else { throw invalid("character not allowed") }
        return scalar
    }

    /// Returns an error for a control character. U+0000 has a separate code, escaped or not, because the
    /// caller must look for the error in its data, not in its JSON.
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

/// The UTF-8 of one string of a document.
enum JSONText {
    /// A range of the document.
    case part(Range<Int>)
    /// A decoded copy, because the string has escapes.
    case decoded([UInt8])
}

extension JSONReader {
    /// Reads a number by the grammar of RFC 8259 §6, without a conversion that could trap, round or overflow.
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

    /// Returns `nil` when the digits do not fit 64 bits.
    private func integer(_ digits: ArraySlice<UInt8>, isNegative: Bool) -> Int64? {
        var value: Int64 = 0
        for digit in digits {
            let (product, overflow) = value.multipliedReportingOverflow(by: 10)
            // Subtracts, because Int64.min has no positive counterpart.
            let (difference, underflow) = product.subtractingReportingOverflow(
                Int64(digit - UInt8(ascii: "0")))
            if overflow || underflow { return nil }
            value = difference
        }
        if isNegative { return value }
        return value == Int64.min ? nil : -value
    }
}

/// A JSON number without loss: an exact 64-bit integer, or the text of any other number.
///
/// `1e3` and `1.0` are not integers here, because Apple never writes them, and
/// readers that round would disagree with others.
public enum JSONNumber: Sendable, Equatable {
    case integer(Int64)
    case other(String)
}
