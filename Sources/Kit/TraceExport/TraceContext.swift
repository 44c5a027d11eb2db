public import Tracing

/// A span's place in its trace, in the form that programs propagate (W3C Trace Context).
public struct TraceContext: Sendable, Equatable {
    public let traceID: TraceID
    public let spanID: SpanID
    /// True if the span is recorded.
    public let isSampled: Bool
    /// Valid `tracestate` from the received context; `nil` if there is none.
    public var state: String?

    init(traceID: TraceID, spanID: SpanID, isSampled: Bool, state: String? = nil) {
        (self.traceID, self.spanID, self.isSampled, self.state) = (traceID, spanID, isSampled, state)
    }

    /// Parses a `traceparent` (§3.2). Returns `nil` for any other string, so that the program begins a new
    /// trace (§3.4).
    public init?(traceparent: String) {
        let length = 55
        let text = Array(traceparent.utf8.prefix(length + 1))
        let hyphen = UInt8(ascii: "-")
        guard text.count >= length, text[2] == hyphen, text[35] == hyphen, text[52] == hyphen,
            let version = LowercaseHex.read(text[0..<2]), version != 0xFF,
            // Version 00 has no further fields, but a later version may have some after a hyphen.
            text.count == length || (version > 0 && text[length] == hyphen),
            let high = LowercaseHex.read(text[3..<19]), let low = LowercaseHex.read(text[19..<35]),
            let span = LowercaseHex.read(text[36..<52]), let flags = LowercaseHex.read(text[53..<55]),
            let traceID = TraceID(high: high, low: low), let spanID = SpanID(span)
        else { return nil }
        self.init(traceID: traceID, spanID: spanID, isSampled: flags & 1 == 1)
    }

    /// Value of the `traceparent` header for a request to another program.
    public var traceparent: String { "00-\(traceID.text)-\(spanID.text)-\(isSampled ? "01" : "00")" }
}

extension ServiceContext {
    /// The current span's place in its trace.
    public var trace: TraceContext? {
        get { self[TraceContextKey.self] }
        set { self[TraceContextKey.self] = newValue }
    }

    public init(_ trace: TraceContext) {
        self = .topLevel
        self.trace = trace
    }
}

private enum TraceContextKey: ServiceContextKey {
    typealias Value = TraceContext
}

/// A trace ID: 16 bytes, not all zero (W3C Trace Context §3.2.2.3).
public struct TraceID: Sendable, Hashable {
    let high: UInt64
    let low: UInt64

    init?(high: UInt64, low: UInt64) {
        guard high != 0 || low != 0 else { return nil }
        (self.high, self.low) = (high, low)
    }

    /// The ID as 32 lower-case hexadecimal digits.
    public var text: String {
        String(unsafeUninitializedCapacity: 32) { output in
            LowercaseHex.write(high, to: output, at: 0)
            LowercaseHex.write(low, to: output, at: 16)
            return 32
        }
    }
}

/// A span ID: 8 bytes, not all zero.
public struct SpanID: Sendable, Hashable {
    let value: UInt64

    init?(_ value: UInt64) {
        guard value != 0 else { return nil }
        self.value = value
    }

    /// The ID as 16 lower-case hexadecimal digits.
    public var text: String {
        String(unsafeUninitializedCapacity: 16) { output in
            LowercaseHex.write(value, to: output, at: 0)
            return 16
        }
    }
}

/// Hexadecimal form of 64-bit words, in lower case because Trace Context forbids upper-case digits.
enum LowercaseHex {
    static func write(_ word: UInt64, to output: UnsafeMutableBufferPointer<UInt8>, at start: Int) {
        for index in 0..<16 {
            let digit = UInt8(truncatingIfNeeded: word >> UInt64(60 - 4 * index)) & 15
            output[start + index] =
                digit < 10 ? UInt8(ascii: "0") + digit : UInt8(ascii: "a") + digit - 10
        }
    }

    /// Parses at most 16 digits. Returns `nil` for any character other than `0-9a-f`.
    static func read(_ digits: some Sequence<UInt8>) -> UInt64? {
        var word: UInt64 = 0
        for digit in digits {
            switch digit {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): word = word << 4 | UInt64(digit - UInt8(ascii: "0"))
            case UInt8(ascii: "a")...UInt8(ascii: "f"):
                word = word << 4 | UInt64(digit - UInt8(ascii: "a") + 10)
            default: return nil
            }
        }
        return word
    }
}

/// The `tracestate` rules (W3C Trace Context §3.3). siwa has no `tracestate` member of its own, so it keeps
/// or drops the whole value.
public enum TraceState {
    /// Largest value, in bytes, that programs should propagate. siwa drops a longer value completely, because
    /// a truncated value would be a different value.
    public static let longest = 512
    private static let mostMembers = 32

    /// - Parameter fields: Values of all `tracestate` headers, in order.
    /// - Returns: The joined value, or `nil` if it is absent or malformed.
    public static func accept(_ fields: [String]) -> String? {
        var total = 0
        for field in fields { total += field.utf8.count + 1 }
        // The length check comes first, so that a large number of headers costs nothing.
        guard total > 0, total - 1 <= longest else { return nil }
        let value = fields.joined(separator: ",")
        var keys: Set<Substring> = []
        for member in value.split(separator: ",") {
            let member = trimmed(member)
            // Empty members are allowed (§3.3.1.1).
            guard !member.isEmpty else { continue }
            guard let equals = member.firstIndex(of: "=") else { return nil }
            let key = member[..<equals]
            guard isKey(key), isValue(member[member.index(after: equals)...]),
                keys.insert(key).inserted, keys.count <= mostMembers
            else { return nil }
        }
        return keys.isEmpty ? nil : value
    }

    private static func trimmed(_ member: Substring) -> Substring {
        var member = member.drop { $0 == " " || $0 == "\t" }
        while let last = member.last, last == " " || last == "\t" { member.removeLast() }
        return member
    }

    /// Returns true for a valid key, which begins with a letter. In a key with a tenant, `tenant@system`, the
    /// tenant may also begin with a digit.
    private static func isKey(_ key: Substring) -> Bool {
        let parts = key.split(separator: "@", omittingEmptySubsequences: false)
        switch parts.count {
        case 1: return isName(parts[0], atMost: 256, mayBeginWithDigit: false)
        case 2:
            return isName(parts[0], atMost: 241, mayBeginWithDigit: true)
                && isName(parts[1], atMost: 14, mayBeginWithDigit: false)
        default: return false
        }
    }

    private static func isName(_ name: Substring, atMost most: Int, mayBeginWithDigit: Bool) -> Bool {
        guard let first = name.utf8.first, name.utf8.count <= most else { return false }
        let letters = UInt8(ascii: "a")...UInt8(ascii: "z")
        let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
        guard letters.contains(first) || (mayBeginWithDigit && digits.contains(first)) else { return false }
        return name.utf8.allSatisfy {
            letters.contains($0) || digits.contains($0) || "_-*/".utf8.contains($0)
        }
    }

    /// Returns true for printable ASCII without a comma or an equals sign. The caller must already have
    /// removed trailing spaces.
    private static func isValue(_ value: Substring) -> Bool {
        !value.isEmpty && value.utf8.count <= 256
            && value.utf8.allSatisfy {
                (0x20...0x7E).contains($0) && $0 != UInt8(ascii: ",") && $0 != UInt8(ascii: "=")
            }
    }
}
