import Encodings
package import NIOHTTP1
import Synchronization

/// The header fields that this service uses, found in one pass.
package struct RequestFields: Sendable {
    package private(set) var authorization: String?
    package private(set) var contentType: String?
    package private(set) var requestID: String?
    package private(set) var ifNoneMatch: String?
    package private(set) var cookie: String?
    /// All `X-Forwarded-For` headers as one list. The nearest proxy's header comes last (RFC 9110 §5.3).
    package private(set) var forwardedFor: String?
    /// Value of `Content-Length`. A number too large for `Int` becomes the largest `Int`.
    package private(set) var contentLength: Int?
    package private(set) var expectsContinue = false
    package private(set) var wantsUpgrade = false
    package private(set) var hostCount = 0
    package private(set) var isHostValid = true
    package private(set) var transferCoding = TransferCoding.none

    package enum TransferCoding: Sendable { case none, chunked, unknown }

    package init(_ headers: HTTPHeaders) {
        for (name, value) in headers {
            // The length nearly always identifies the name, so each name is compared at most twice.
            switch name.utf8.count {
            case 4 where Self.areEqual(name, "host"):
                hostCount += 1
                isHostValid = isHostValid && RequestTarget.isAuthority(Self.trimmed(value), mayBeEmpty: true)
            case 6 where Self.areEqual(name, "expect"): expectsContinue = Self.areEqual(value, "100-continue")
            // HTTP/1.1 requests have one `Cookie` header (RFC 6265 §5.4), but a proxy may have split it.
            case 6 where Self.areEqual(name, "cookie"):
                // Appending in place matters, because copying the value would make many headers slow.
                if cookie == nil { cookie = value } else { cookie?.append("; \(value)") }
            case 7 where Self.areEqual(name, "upgrade"): wantsUpgrade = true
            case 12 where Self.areEqual(name, "content-type"): contentType = value
            case 12 where Self.areEqual(name, "x-request-id"): requestID = value
            // Two API keys are treated as an invalid key, because no honest client sends two.
            case 13 where Self.areEqual(name, "authorization"):
                authorization = authorization == nil ? value : ""
            case 13 where Self.areEqual(name, "if-none-match"): ifNoneMatch = value
            case 14 where Self.areEqual(name, "content-length"): contentLength = Self.length(value)
            case 15 where Self.areEqual(name, "x-forwarded-for"):
                if forwardedFor == nil { forwardedFor = value } else { forwardedFor?.append(",\(value)") }
            case 17 where Self.areEqual(name, "transfer-encoding"):
                let isChunked = transferCoding == .none && Self.areEqual(Self.trimmed(value), "chunked")
                transferCoding = isChunked ? .chunked : .unknown
            default: break
            }
        }
    }

    /// Parses a length. The decoder has already rejected everything except digits.
    private static func length(_ value: String) -> Int {
        Int(trimmed(value)) ?? .max
    }

    /// Removes white space after a value, because it is not part of the value (RFC 9112 §5.1) and the decoder
    /// does not remove it.
    private static func trimmed(_ value: String) -> Substring {
        guard let last = value.utf8.last, isWhiteSpace(last) else { return value[...] }
        var value = value
        let count = value.withUTF8 { bytes in
            bytes.lastIndex { !isWhiteSpace($0) }.map { $0 + 1 } ?? 0
        }
        return Substring(value.utf8.prefix(count))
    }

    private static func isWhiteSpace(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t")
    }

    /// True if the content type is JSON (RFC 8259 §11), with or without parameters such as a charset.
    package var isJSON: Bool { isMedia("application/json") }

    /// True if the content type is an HTML form's content type (HTML §4.10.22.6).
    package var isForm: Bool { isMedia("application/x-www-form-urlencoded") }

    private func isMedia(_ type: StaticString) -> Bool {
        guard let contentType else { return false }
        // Most requests send the type without parameters, so this comparison comes first.
        if Self.areEqual(contentType, type) { return true }
        let end = contentType.utf8.firstIndex { byte in
            byte == UInt8(ascii: ";") || byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t")
        }
        return Self.areEqual(contentType[..<(end ?? contentType.endIndex)], type)
    }

    /// Compares a string with a lower-case ASCII literal, ignoring the case of ASCII letters.
    @inlinable package static func areEqual(_ text: some StringProtocol, _ lowercase: StaticString) -> Bool {
        guard text.utf8.count == lowercase.utf8CodeUnitCount else { return false }
        let result = text.utf8.withContiguousStorageIfAvailable { areEqual($0[...], lowercase) }
        return result ?? text.utf8.lazy.map(folded).elementsEqual(lowercase.bytes)
    }

    /// Compares bytes with a lower-case ASCII literal, ignoring the case of ASCII letters.
    @inlinable package static func areEqual(
        _ text: Slice<UnsafeBufferPointer<UInt8>>, _ lowercase: StaticString
    ) -> Bool {
        guard text.count == lowercase.utf8CodeUnitCount else { return false }
        for (byte, expected) in zip(text, lowercase.bytes) where folded(byte) != expected { return false }
        return true
    }

    @inlinable package static func folded(_ byte: UInt8) -> UInt8 {
        byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") ? byte | 0x20 : byte
    }
}

extension StaticString {
    /// The literal's bytes, which stay valid until the process ends.
    @inlinable package var bytes: UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(start: utf8Start, count: utf8CodeUnitCount)
    }
}

/// The `Cookie` header of a request (RFC 6265 §4.2).
package enum CookieField {
    /// Returns the value of the first cookie with this name; `nil` if there is none. Browsers send the cookie
    /// with the longest path first.
    package static func value(of name: String, in field: String?) -> String? {
        guard var field else { return nil }
        var name = name
        // The search reads eight bytes at a time, because sealed cookies are long.
        return field.withUTF8 { field in
            name.withUTF8 { name in
                var next = 0
                while next < field.count {
                    var start = next
                    let end =
                        WordScan.firstOffset(
                            of: UInt8(ascii: ";"), in: UnsafeRawBufferPointer(field), from: start)
                        ?? field.count
                    next = end + 1
                    while start < end, field[start] == UInt8(ascii: " ") || field[start] == UInt8(ascii: "\t")
                    {
                        start += 1
                    }
                    let mark = start + name.count
                    if mark < end, field[mark] == UInt8(ascii: "="), field[start..<mark].elementsEqual(name) {
                        return String(decoding: field[(mark + 1)..<end], as: UTF8.self)
                    }
                }
                return nil
            }
        }
    }
}

/// The ID of one request, which appears in its response, its error and its log line.
package enum RequestID {
    /// Accepts a caller's ID if it is safe in log lines and headers: 1 to 64 characters from
    /// `[A-Za-z0-9._-]`.
    package static func accept(_ offered: String?) -> String? {
        guard let offered, (1...64).contains(offered.utf8.count), characters.containsAll(of: offered[...])
        else { return nil }
        return offered
    }

    /// Creates a 13-character ID, short enough for Swift to store without an allocation.
    package static func make() -> String {
        // The splitmix64 finalizer is a bijection, so IDs never repeat within a process, and consecutive IDs
        // look unrelated.
        var mixed = counter.wrappingAdd(0x9E37_79B9_7F4A_7C15, ordering: .relaxed).newValue
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        mixed ^= mixed >> 31
        return String(unsafeUninitializedCapacity: 13) { output in
            for index in 0..<13 {
                output[index] = digit(mixed & 31)
                mixed >>= 5
            }
            return 13
        }
    }

    private static let counter = Atomic<UInt64>(UInt64.random(in: .min ... .max))

    private static func digit(_ value: UInt64) -> UInt8 {
        let value = UInt8(truncatingIfNeeded: value)
        return value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }

    private static let characters = ASCIISet(lettersDigitsAnd: "._-")
}
