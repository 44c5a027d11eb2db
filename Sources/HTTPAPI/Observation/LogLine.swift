import Encodings
import HTTPEngine

/// Writes one line of `key=value` pairs, a form for operators and for log collectors.
///
/// Values with anything but printable ASCII are quoted and escaped, so that no outside input can begin a line
/// or forge a field.
struct LogLine: ~Copyable {
    private var bytes: [UInt8] = []

    /// `milliseconds` since 1970.
    init(at milliseconds: Int64, level: StaticString) {
        bytes.reserveCapacity(224)
        bytes.append(contentsOf: "time=".utf8)
        RFC3339.append(milliseconds: milliseconds, to: &bytes)
        field("level", level)
    }

    mutating func field(_ name: StaticString, _ value: StaticString) {
        begin(name)
        bytes.append(contentsOf: value.bytes)
    }

    mutating func field(_ name: StaticString, _ value: Int64) {
        begin(name)
        append(value)
    }

    mutating func field(_ name: StaticString, _ value: String) {
        begin(name)
        append(value)
    }

    mutating func field(_ name: String, _ value: String) {
        bytes.append(UInt8(ascii: " "))
        for byte in name.utf8 { bytes.append(Self.plain.contains(byte) ? byte : UInt8(ascii: "_")) }
        bytes.append(UInt8(ascii: "="))
        append(value)
    }

    consuming func finish() -> [UInt8] {
        bytes.append(UInt8(ascii: "\n"))
        return bytes
    }

    private mutating func begin(_ name: StaticString) {
        bytes.append(UInt8(ascii: " "))
        bytes.append(contentsOf: name.bytes)
        bytes.append(UInt8(ascii: "="))
    }

    private mutating func append(_ value: Int64) {
        // Numbers here have at most 15 digits, and a string of 15 bytes needs no allocation.
        bytes.append(contentsOf: String(value).utf8)
    }

    private mutating func append(_ value: String) {
        let plain = Self.plain
        var value = value
        let isPlain = value.withUTF8 { text in
            guard !text.isEmpty, plain.containsAll(of: text) else { return false }
            bytes.append(contentsOf: text)
            return true
        }
        if isPlain { return }
        bytes.append(UInt8(ascii: "\""))
        for scalar in value.unicodeScalars {
            switch scalar {
            case "\"", "\\":
                bytes.append(UInt8(ascii: "\\"))
                bytes.append(UInt8(ascii: scalar))
            case " "..."~": bytes.append(UInt8(ascii: scalar))
            // Messages of libpq and of the system have several lines; an operator reads them as one line.
            case "\n", "\r", "\t": if bytes.last != UInt8(ascii: " ") { bytes.append(UInt8(ascii: " ")) }
            // Characters beyond ASCII are escaped too, because terminals interpret some of them.
            default: bytes.append(contentsOf: "\\u{\(String(scalar.value, radix: 16))}".utf8)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private static let plain = ASCIISet(visibleWithout: "\"=\\")
}
