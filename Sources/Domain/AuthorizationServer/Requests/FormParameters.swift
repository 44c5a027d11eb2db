import Encodings

/// The parameters of a query or form (`application/x-www-form-urlencoded`; RFC 6749, appendix B).
///
/// The parser is strict, because two lenient parsers can read the same bytes as different requests. It
/// detects repeated names and broken escapes but never repairs them. They are reported only for parameters
/// that a caller reads, so that unknown parameters can be ignored (RFC 6749 §3.1).
public struct FormParameters: Sendable, Confidential {
    public enum Source: Sendable { case query, form }

    public enum Value: Sendable, Hashable {
        /// The parameter is missing or has no value, which RFC 6749 §3.1 treats alike.
        case absent
        case repeated
        /// The value contains a broken escape, invalid UTF-8 or U+0000.
        case malformed
        case text(String)
    }

    /// The error for a request with too many parameters or bytes.
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
            // The limit is checked first, so that no work is done for parameters beyond it.
            guard parts < Self.mostParameters else { throw TooMany() }
            if bytes[next] == UInt8(ascii: "&") {
                next += 1
                continue
            }
            let part = bytes[next..<Self.end(of: bytes, from: next)]
            next = part.endIndex + 1
            parts += 1
            let end = part.firstIndex(of: UInt8(ascii: "=")) ?? part.endIndex
            // A name that cannot be decoded counts as unknown, and a name that is too long is not even
            // decoded.
            guard end - part.startIndex <= Self.longestName, let name = Self.decode(part[..<end]) else {
                continue
            }
            fields.append((name, part[end...].dropFirst()))
        }
        self.source = source
        self.fields = fields
    }

    /// The maximum number of raw bytes in a name that is decoded. A request may escape each byte of a known
    /// name as three bytes.
    private static let longestName = 3 * RequestParameter.longestName

    public subscript(name: String) -> Value { value(of: name, upTo: Self.mostBytes) }

    /// Reads only the beginning of a value, so that an overlong value takes no longer than a valid value.
    ///
    /// - Parameter limit: Maximum number of decoded bytes. A string of exactly this length may be the beginning
    ///   of a longer value.
    public func value(of name: String, upTo limit: Int) -> Value {
        var value: ArraySlice<UInt8>?
        for field in fields where Self.isNamed(field.name, name) {
            guard value == nil else { return .repeated }
            value = field.value
        }
        guard let value, !value.isEmpty else { return .absent }
        return Self.text(value, upTo: limit)
    }

    /// Returns the end of the parameter that begins at `start`.
    private static func end(of bytes: [UInt8], from start: Int) -> Int {
        bytes.withUnsafeBytes { WordScan.firstOffset(of: UInt8(ascii: "&"), in: $0, from: start) }
            ?? bytes.count
    }

    /// Returns the values of a parameter that may be repeated (RFC 8707 §2). Malformed values are `nil`.
    func all(_ name: String) -> [String?] {
        rawValues(of: name).filter { !$0.isEmpty }.map { raw in
            guard case .text(let text) = Self.text(raw, upTo: Self.mostBytes) else { return nil }
            return text
        }
    }

    /// Returns the canonical form of the parameters that an App Attest proof covers. Each parameter is
    /// written as `name=value`, percent-encoded except for letters, digits and `-._~`. They are sorted by
    /// their bytes and joined with `&`.
    ///
    /// - Parameter excluded: Parameters to exclude.
    /// - Returns: `nil` if a value cannot be decoded.
    func canonicalText(without excluded: [RequestParameter]) -> String? {
        let excluded = Set(excluded.map { Array($0.rawValue.utf8) })
        var pairs: [String] = []
        for field in fields where !excluded.contains(field.name) {
            guard let name = String(validating: field.name, as: UTF8.self),
                let value = Self.decode(field.value).flatMap({ String(validating: $0, as: UTF8.self) })
            else { return nil }
            pairs.append(FormEncoding.encode([(name, value)]))
        }
        return pairs.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }.joined(separator: "&")
    }

    /// Names of repeated parameters. Names longer than any known name are skipped, because each name is
    /// compared with all others.
    var repeatedNames: [String] {
        let names = fields.map(\.name).filter { $0.count <= RequestParameter.longestName }
        return names.indices.filter { index in names[..<index].contains(names[index]) }
            .map { String(decoding: names[$0], as: UTF8.self) }
    }

    /// Returns a parameter's values without decoding them.
    func rawValues(of name: String) -> [ArraySlice<UInt8>] {
        fields.filter { Self.isNamed($0.name, name) }.map(\.value)
    }

    private static func isNamed(_ bytes: [UInt8], _ name: String) -> Bool {
        bytes.count == name.utf8.count && bytes.elementsEqual(name.utf8)
    }

    private static func text(_ raw: ArraySlice<UInt8>, upTo limit: Int) -> Value {
        guard let bytes = decode(raw, upTo: limit) else { return .malformed }
        // The limit may have cut the text in the middle of a character.
        if bytes.count == limit { return .text(String(decoding: bytes, as: UTF8.self)) }
        return String(validating: bytes, as: UTF8.self).map(Value.text) ?? .malformed
    }

    /// Decodes the bytes in one pass, stopping at the maximum number of decoded bytes.
    private static func decode(_ raw: ArraySlice<UInt8>, upTo limit: Int = mostBytes) -> [UInt8]? {
        raw.withUnsafeBufferPointer { raw in
            var isMalformed = false
            let decoded = [UInt8](unsafeUninitializedCapacity: min(raw.count, limit)) { output, count in
                var next = 0
                while next < raw.count, count < limit {
                    let byte = raw[next]
                    next += 1
                    switch byte {
                    case UInt8(ascii: "+"): output[count] = 0x20
                    case UInt8(ascii: "%"):
                        guard next + 1 < raw.count, let high = raw[next].hexadecimalValue,
                            let low = raw[next + 1].hexadecimalValue, high | low != 0
                        else {
                            isMalformed = true
                            return
                        }
                        output[count] = high << 4 | low
                        next += 2
                    // Bytes outside printable ASCII must be escaped. A raw space is accepted, because some
                    // clients send it.
                    case 0x20...0x7E: output[count] = byte
                    default:
                        isMalformed = true
                        return
                    }
                    count += 1
                }
            }
            return isMalformed ? nil : decoded
        }
    }
}

/// A value that contains a secret. Neither its description nor an interpolation or `dump` shows its members,
/// so that the secret never ends up in a log.
public protocol Confidential: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {}

extension Confidential {
    public var description: String { "\(Self.self)" }
    public var debugDescription: String { description }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
