/// Appends JSON to one buffer, without building a tree first.
///
/// The caller keeps the order: a `name` before every value in an object, an `element` before every value in an
/// array.
public struct JSONWriter: Sendable {
    public private(set) var bytes: [UInt8]
    private var needsComma = false

    public init(reservingCapacity capacity: Int = 512) {
        bytes = []
        bytes.reserveCapacity(capacity)
    }

    public mutating func beginObject() { begin(UInt8(ascii: "{")) }
    public mutating func endObject() { end(UInt8(ascii: "}")) }
    public mutating func beginArray() { begin(UInt8(ascii: "[")) }
    public mutating func endArray() { end(UInt8(ascii: "]")) }

    /// Starts an element of an array.
    public mutating func element() {
        if needsComma { bytes.append(UInt8(ascii: ",")) }
        needsComma = true
    }

    /// Starts a member whose name needs no escape.
    public mutating func name(_ name: StaticString) {
        element()
        bytes.append(UInt8(ascii: "\""))
        bytes.append(contentsOf: UnsafeBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount))
        bytes.append(UInt8(ascii: "\""))
        bytes.append(UInt8(ascii: ":"))
    }

    public mutating func name(_ name: String) {
        element()
        appendQuoted(name)
        bytes.append(UInt8(ascii: ":"))
    }

    public mutating func value(_ value: String) { appendQuoted(value) }
    public mutating func value(_ value: Bool) { append(value ? "true" : "false") }
    public mutating func value(_ value: Int) { self.value(Int64(value)) }
    public mutating func valueNull() { append("null") }

    public mutating func value(_ value: Int64) {
        let start = bytes.count
        var rest = value.magnitude
        repeat {
            bytes.append(UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10))
            rest /= 10
        } while rest > 0
        if value < 0 { bytes.append(UInt8(ascii: "-")) }
        bytes[start...].reverse()
    }

    public mutating func value(_ value: JSONValue) {
        switch value {
        case .null: valueNull()
        case .bool(let value): self.value(value)
        case .integer(let value): self.value(value)
        case .number(let text): bytes.append(contentsOf: text.utf8)
        case .string(let value): self.value(value)
        case .array(let elements):
            beginArray()
            for value in elements {
                element()
                self.value(value)
            }
            endArray()
        case .object(let object):
            beginObject()
            for (name, value) in object.members {
                self.name(name)
                self.value(value)
            }
            endObject()
        }
    }

    private mutating func begin(_ bracket: UInt8) {
        bytes.append(bracket)
        needsComma = false
    }

    private mutating func end(_ bracket: UInt8) {
        bytes.append(bracket)
        needsComma = true
    }

    private mutating func append(_ text: StaticString) {
        bytes.append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    private mutating func appendQuoted(_ text: String) {
        bytes.append(UInt8(ascii: "\""))
        var text = text
        text.withUTF8 { buffer in
            // Runs without escapes, nearly always the whole string, are copied at once.
            var start = 0
            for index in buffer.indices where Self.needsEscape(buffer[index]) {
                bytes.append(contentsOf: buffer[start..<index])
                appendEscape(of: buffer[index])
                start = index + 1
            }
            bytes.append(contentsOf: buffer[start...])
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private static func needsEscape(_ byte: UInt8) -> Bool {
        byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
    }

    private mutating func appendEscape(of byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\""): append("\\\"")
        case UInt8(ascii: "\\"): append("\\\\")
        case 0x08: append("\\b")
        case 0x09: append("\\t")
        case 0x0A: append("\\n")
        case 0x0C: append("\\f")
        case 0x0D: append("\\r")
        default:
            append("\\u00")
            for digit in [byte >> 4, byte & 15] {
                bytes.append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
            }
        }
    }
}
