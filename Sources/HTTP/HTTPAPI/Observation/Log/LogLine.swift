import Encodings
import HTTPEngine
import StrictJSON

/// Writes one line of the log, in one of its forms.
///
/// In text form, values with characters other than printable ASCII are quoted and escaped. In JSON form, one
/// writer quotes and escapes every value. So outside input can neither begin a line nor forge a field.
struct LogLine: ~Copyable {
    private var bytes: [UInt8] = []
    /// `nil` for a line of text.
    private var json: JSONWriter?

    /// Begins a line. `milliseconds` counts from 1970.
    init(at milliseconds: Int64, level: StaticString, as format: LogFormat = .text) {
        switch format {
        case .text:
            bytes.reserveCapacity(224)
            bytes.append(contentsOf: "time=".utf8)
            RFC3339.append(milliseconds: milliseconds, to: &bytes)
        case .json:
            var time: [UInt8] = []
            RFC3339.append(milliseconds: milliseconds, to: &time)
            var json = JSONWriter(reservingCapacity: 320)
            json.beginObject()
            json.member("time", String(decoding: time, as: UTF8.self))
            self.json = json
        }
        field("level", level)
    }

    mutating func field(_ name: StaticString, _ value: StaticString) {
        if json != nil {
            json?.member(name, String(decoding: value.bytes, as: UTF8.self))
        } else {
            begin(name)
            bytes.append(contentsOf: value.bytes)
        }
    }

    mutating func field(_ name: StaticString, _ value: Int64) {
        if json != nil {
            json?.member(name, value)
        } else {
            begin(name)
            // Numbers here have at most 15 digits, and a string of 15 bytes needs no allocation.
            bytes.append(contentsOf: String(value).utf8)
        }
    }

    mutating func field(_ name: StaticString, _ value: String) {
        if json != nil {
            json?.member(name, value)
        } else {
            begin(name)
            append(value)
        }
    }

    /// Writes a field with a foreign name: metadata of a message. Adds an underscore before a name that the
    /// line already contains, because readers of JSON keep only one of two equal names.
    mutating func field(metadata name: String, _ value: String) {
        let isTaken = Self.ownNames.contains(name)
        if json != nil {
            json?.name(isTaken ? "_\(name)" : name)
            json?.value(value)
        } else {
            bytes.append(UInt8(ascii: " "))
            if isTaken { bytes.append(UInt8(ascii: "_")) }
            for byte in name.utf8 { bytes.append(Self.plain.contains(byte) ? byte : UInt8(ascii: "_")) }
            bytes.append(UInt8(ascii: "="))
            append(value)
        }
    }

    consuming func finish() -> [UInt8] {
        if var json {
            json.endObject()
            bytes = json.bytes
        }
        bytes.append(UInt8(ascii: "\n"))
        return bytes
    }

    private mutating func begin(_ name: StaticString) {
        bytes.append(UInt8(ascii: " "))
        bytes.append(contentsOf: name.bytes)
        bytes.append(UInt8(ascii: "="))
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
            // Messages of libpq and of the system have several lines; the log writes them as one line.
            case "\n", "\r", "\t": if bytes.last != UInt8(ascii: " ") { bytes.append(UInt8(ascii: " ")) }
            // Characters beyond ASCII are escaped too, because terminals interpret some of them.
            default: bytes.append(contentsOf: "\\u{\(String(scalar.value, radix: 16))}".utf8)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private static let plain = ASCIISet(visibleWithout: "\"=\\")
    private static let ownNames: Set<String> = ["time", "level", "logger", "msg", "error"]
}

/// The form of the log's lines. Both have the same fields with the same names.
public enum LogFormat: String, Sendable, CaseIterable {
    /// `name=value` pairs, for operators.
    case text
    /// One JSON object a line (RFC 8259), for log collectors.
    case json
}
