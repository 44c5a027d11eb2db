import Encodings

/// The parameters of a query or a form (`application/x-www-form-urlencoded`; RFC 6749, appendix B).
///
/// It is read strictly, because two lenient readers can see different requests: a repeated name and a broken
/// escape are found, and not repaired. They are reported for the parameter that is asked for, so that unknown
/// parameters can be ignored (RFC 6749 §3.1).
public struct FormParameters: Sendable, Confidential {
    public enum Source: Sendable { case query, form }

    public enum Value: Sendable, Hashable {
        /// Not there, or without a value, which is the same (RFC 6749 §3.1).
        case absent
        case repeated
        /// A broken escape, bytes that are not UTF-8, or U+0000.
        case malformed
        case text(String)
    }

    /// There are more parameters or more bytes than these bounds.
    public struct TooMany: Error, Sendable, Equatable {}

    public static let mostParameters = 64
    public static let mostBytes = 16_384

    public let source: Source
    private let fields: [(name: [UInt8], value: ArraySlice<UInt8>)]

    public init(parsing bytes: some Collection<UInt8>, as source: Source) throws(TooMany) {
        guard bytes.count <= Self.mostBytes else { throw TooMany() }
        let bytes = Array(bytes)
        var fields: [(name: [UInt8], value: ArraySlice<UInt8>)] = []
        fields.reserveCapacity(16)
        var (parts, next) = (0, 0)
        while next < bytes.count {
            // The bound comes first, so that what follows it costs nothing.
            guard parts < Self.mostParameters else { throw TooMany() }
            let part = bytes[next..<Self.end(of: bytes, from: next)]
            next = part.endIndex + 1
            guard !part.isEmpty else { continue }
            parts += 1
            let end = part.firstIndex(of: UInt8(ascii: "=")) ?? part.endIndex
            // A name that cannot be read is not one that is known.
            guard let name = Self.decode(part[..<end]) else { continue }
            fields.append((name, part[end...].dropFirst()))
        }
        self.source = source
        self.fields = fields
    }

    public subscript(name: String) -> Value {
        var value: ArraySlice<UInt8>?
        for field in fields where Self.isNamed(field.name, name) {
            guard value == nil else { return .repeated }
            value = field.value
        }
        guard let value, !value.isEmpty else { return .absent }
        return Self.text(value)
    }

    /// Where the parameter that begins at `start` ends.
    private static func end(of bytes: [UInt8], from start: Int) -> Int {
        bytes.withUnsafeBytes { WordScan.firstOffset(of: UInt8(ascii: "&"), in: $0, from: start) }
            ?? bytes.count
    }

    /// The values of a parameter that may come several times (RFC 8707 §2). `nil` for one that is malformed.
    func all(_ name: String) -> [String?] {
        rawValues(of: name).filter { !$0.isEmpty }.map { raw in
            guard case .text(let text) = Self.text(raw) else { return nil }
            return text
        }
    }

    /// Names that come more than once.
    var repeatedNames: [String] {
        fields.indices.filter { index in fields[..<index].contains { $0.name == fields[index].name } }
            .map { String(decoding: fields[$0].name, as: UTF8.self) }
    }

    /// As they came, not decoded.
    func rawValues(of name: String) -> [ArraySlice<UInt8>] {
        fields.filter { Self.isNamed($0.name, name) }.map(\.value)
    }

    private static func isNamed(_ bytes: [UInt8], _ name: String) -> Bool {
        bytes.count == name.utf8.count && bytes.elementsEqual(name.utf8)
    }

    private static func text(_ raw: ArraySlice<UInt8>) -> Value {
        // Tokens are long, and have nothing to decode.
        if raw.allSatisfy(isPlain) { return .text(String(decoding: raw, as: UTF8.self)) }
        return decode(raw).flatMap { String(validating: $0, as: UTF8.self) }.map(Value.text) ?? .malformed
    }

    /// Printable ASCII that stands for itself.
    private static func isPlain(_ byte: UInt8) -> Bool {
        (0x21...0x7E).contains(byte) && byte != UInt8(ascii: "+") && byte != UInt8(ascii: "%")
    }

    private static func decode(_ raw: ArraySlice<UInt8>) -> [UInt8]? {
        if raw.allSatisfy(isPlain) { return Array(raw) }
        var decoded: [UInt8] = []
        decoded.reserveCapacity(raw.count)
        var rest = raw
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "+"): decoded.append(0x20)
            case UInt8(ascii: "%"):
                guard let high = rest.popFirst()?.hexadecimalValue,
                    let low = rest.popFirst()?.hexadecimalValue,
                    high | low != 0
                else { return nil }
                decoded.append(high << 4 | low)
            // What is not printable ASCII must be escaped. A raw space is a space, as some clients write it.
            case 0x20...0x7E: decoded.append(byte)
            default: return nil
            }
        }
        return decoded
    }
}
