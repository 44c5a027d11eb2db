import Encodings
import HTTPEngine
import StrictJSON

/// Writes one log line in text or JSON format.
///
/// In text format, values with characters other than printable ASCII are quoted and escaped. In JSON format,
/// every value passes through one writer, which quotes and escapes it. So external input can neither start a
/// new line nor forge a field.
struct LogLine: ~Copyable {
    private var bytes: [UInt8] = []
    /// The JSON writer; `nil` for a text line.
    private var json: JSONWriter?

    /// Begins a line. `milliseconds` is the time since 1970.
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
            // Numbers have at most 15 digits here, so they need no allocation: Swift stores strings of up to
            // 15 bytes inline.
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

    /// Writes a metadata field of a log message. Its name comes from other code, so the line may already have
    /// a field with this name. The name then gets an underscore prefix, because JSON readers keep only one of
    /// two fields with equal names.
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
            // Messages from libpq and the system can span several lines, which the log joins.
            case "\n", "\r", "\t": if bytes.last != UInt8(ascii: " ") { bytes.append(UInt8(ascii: " ")) }
            // Non-ASCII characters are escaped too, because terminals interpret some of them.
            default: bytes.append(contentsOf: "\\u{\(String(scalar.value, radix: 16))}".utf8)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private static let plain = ASCIISet(visibleWithout: "\"=\\")
    private static let ownNames: Set<String> = ["time", "level", "logger", "msg", "error"]
}

/// The log line format. All formats have the same fields with the same names.
public enum LogFormat: String, Sendable, CaseIterable {
    /// `name=value` pairs for human readers.
    case text
    /// One JSON object per line (RFC 8259), for log collectors.
    case json
}
