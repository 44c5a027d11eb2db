import Encodings

/// Appends JSON to a single buffer, without building a tree.
///
/// The caller must call `name` before every value in an object, and `element` before every value in an array.
public struct JSONWriter: Sendable {
    /// Output bytes, followed by zeros after `count`, because writing into an existing buffer is much cheaper
    /// than appending.
    private var storage: [UInt8]
    private var count = 0
    private var needsComma = false

    public init(reservingCapacity capacity: Int = 512) {
        storage = [UInt8](repeating: 0, count: capacity)
    }

    /// The bytes written so far.
    public var bytes: [UInt8] { Array(storage[..<count]) }

    public mutating func beginObject() { begin(UInt8(ascii: "{")) }
    public mutating func endObject() { end(UInt8(ascii: "}")) }
    public mutating func beginArray() { begin(UInt8(ascii: "[")) }
    public mutating func endArray() { end(UInt8(ascii: "]")) }

    /// Begins an array element.
    public mutating func element() {
        if needsComma { append(UInt8(ascii: ",")) }
        needsComma = true
    }

    /// Begins a member whose name needs no escape.
    public mutating func name(_ name: StaticString) {
        element()
        appendQuoted(UnsafeRawBufferPointer(start: name.utf8Start, count: name.utf8CodeUnitCount))
        append(UInt8(ascii: ":"))
    }

    public mutating func name(_ name: String) {
        element()
        appendQuoted(name)
        append(UInt8(ascii: ":"))
    }

    public mutating func value(_ value: String) { appendQuoted(value) }
    public mutating func value(_ value: Bool) { append(value ? "true" : "false") }
    public mutating func value(_ value: Int) { self.value(Int64(value)) }
    public mutating func valueNull() { append("null") }

    public mutating func value(_ value: Int64) {
        // Writes digits from last to first, into space for the 20 characters of the longest 64-bit number.
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { digits in
            var start = 20
            var rest = value.magnitude
            repeat {
                start -= 1
                digits[start] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
                rest /= 10
            } while rest > 0
            if value < 0 {
                start -= 1
                digits[start] = UInt8(ascii: "-")
            }
            append(UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(digits)[start...]))
        }
    }

    public mutating func value(_ value: JSONValue) {
        switch value {
        case .null: valueNull()
        case .bool(let value): self.value(value)
        case .integer(let value): self.value(value)
        case .number(let text): append(text)
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
        append(bracket)
        needsComma = false
    }

    private mutating func end(_ bracket: UInt8) {
        append(bracket)
        needsComma = true
    }

    private mutating func appendQuoted(_ text: String) {
        var text = text
        text.withUTF8 { buffer in
            let text = UnsafeRawBufferPointer(buffer)
            var end = WordScan.endOfPlainText(in: text, from: 0)
            // Nearly all strings need no escapes, so they take this shortcut.
            if end == text.count { return appendQuoted(text) }
            append(UInt8(ascii: "\""))
            var start = 0
            while end < text.count {
                append(UnsafeRawBufferPointer(rebasing: text[start..<end]))
                appendEscape(of: text[end])
                start = end + 1
                end = WordScan.endOfPlainText(in: text, from: start)
            }
            append(UnsafeRawBufferPointer(rebasing: text[start...]))
            append(UInt8(ascii: "\""))
        }
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
                append(digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10)
            }
        }
    }

    private mutating func append(_ text: String) {
        var text = text
        text.withUTF8 { append(UnsafeRawBufferPointer($0)) }
    }

    private mutating func append(_ text: StaticString) {
        append(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    private mutating func append(_ byte: UInt8) {
        makeRoom(for: 1)
        storage[count] = byte
        count += 1
    }

    private mutating func append(_ text: UnsafeRawBufferPointer) {
        makeRoom(for: text.count)
        storage.withUnsafeMutableBytes { storage in
            UnsafeMutableRawBufferPointer(rebasing: storage[count...]).copyMemory(from: text)
        }
        count += text.count
    }

    /// Appends a string, in quotation marks, whose text needs no escape.
    private mutating func appendQuoted(_ text: UnsafeRawBufferPointer) {
        makeRoom(for: text.count + 2)
        storage.withUnsafeMutableBytes { storage in
            storage[count] = UInt8(ascii: "\"")
            UnsafeMutableRawBufferPointer(rebasing: storage[(count + 1)...]).copyMemory(from: text)
            storage[count + 1 + text.count] = UInt8(ascii: "\"")
        }
        count += text.count + 2
    }

    @inline(__always)
    private mutating func makeRoom(for more: Int) {
        if storage.count - count < more { grow(by: more) }
    }

    private mutating func grow(by more: Int) {
        storage.append(contentsOf: repeatElement(0, count: max(more, storage.count)))
    }
}

extension JSONWriter {
    public mutating func member(_ name: StaticString, _ value: String) {
        self.name(name)
        self.value(value)
    }

    public mutating func member(_ name: StaticString, _ value: Bool) {
        self.name(name)
        self.value(value)
    }

    public mutating func member(_ name: StaticString, _ value: Int64) {
        self.name(name)
        self.value(value)
    }

    public mutating func member(_ name: StaticString, _ value: Int) {
        self.name(name)
        self.value(value)
    }

    /// Writes a member if it has a value. For `nil`, it writes nothing: neither null nor an empty string.
    public mutating func member(_ name: StaticString, ifPresent value: String?) {
        if let value { member(name, value) }
    }

    /// Writes a member with an array of strings, or omits the member if the array is empty.
    public mutating func member(_ name: StaticString, ifAny values: [String]) {
        guard !values.isEmpty else { return }
        self.name(name)
        beginArray()
        for value in values {
            element()
            self.value(value)
        }
        endArray()
    }
}
