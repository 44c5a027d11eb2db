/// The freshness of a response according to its own headers (RFC 9111 §4.2.1, §5.1, §5.2.2).
package enum CacheControl: Sendable, Equatable {
    /// The response does not state its freshness.
    case absent
    /// The response forbids caching, or its directives are malformed.
    case unusable
    /// Fresh for this long from now on; zero when the response was stale on arrival.
    case fresh(milliseconds: Int64)

    /// Largest size in bytes: far longer than real fields. A longer field is not parsed.
    private static let longestField = 4096

    package init(_ field: String?, age: String?) {
        guard let field else {
            self = .absent
            return
        }
        guard field.utf8.count <= Self.longestField else {
            self = .unusable
            return
        }
        var longestAge: Int64?
        for directive in Self.directives(of: Array(field.utf8)) {
            switch directive.name {
            case "no-store", "no-cache":
                self = .unusable
                return
            case "max-age":
                guard let seconds = Self.seconds(directive.value), seconds > 0 else {
                    self = .unusable
                    return
                }
                // If the directive is repeated, the first value counts (RFC 9111 §4.2.1).
                longestAge = longestAge ?? seconds
            default: break
            }
        }
        guard let longestAge else {
            self = .absent
            return
        }
        let spent = age.map { Self.age($0) } ?? 0
        let remaining = longestAge > spent ? longestAge - spent : 0
        self = .fresh(milliseconds: remaining.multipliedSaturating(by: 1000))
    }

    /// Reads a number of digits only that 64 bits can hold.
    private static func seconds(_ value: [UInt8]) -> Int64? {
        guard !value.isEmpty, value.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int64(String(decoding: value, as: UTF8.self))
    }

    /// Reads the age. An age that does not fit in 64 bits counts as the
    /// largest. An age that is not a number is ignored.
    private static func age(_ field: String) -> Int64 {
        guard !field.isEmpty, field.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return 0 }
        return Int64(field) ?? .max
    }

    /// Splits at the commas outside of quoted strings; an attacker's `private="max-age=9"` is one directive.
    private static func directives(of field: [UInt8]) -> [(name: String, value: [UInt8])] {
        var directives: [(name: String, value: [UInt8])] = []
        var isQuoted = false
        var isEscaped = false
        var start = field.startIndex
        for (index, byte) in field.enumerated() {
            if isEscaped {
                isEscaped = false
            } else if isQuoted, byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else if byte == UInt8(ascii: "\"") {
                isQuoted.toggle()
            } else if byte == UInt8(ascii: ","), !isQuoted {
                directives.append(directive(field[start..<index]))
                start = index + 1
            }
        }
        directives.append(directive(field[start...]))
        return directives
    }

    private static func directive(_ bytes: ArraySlice<UInt8>) -> (name: String, value: [UInt8]) {
        let isSpace: (UInt8) -> Bool = { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
        var bytes = bytes.drop(while: isSpace)
        while let last = bytes.last, isSpace(last) { bytes.removeLast() }
        let name = bytes.prefix { $0 != UInt8(ascii: "=") }
        var value = bytes.dropFirst(name.count + 1)
        // Recipients accept both forms of an argument (RFC 9111 §5.2).
        if value.count >= 2, value.first == UInt8(ascii: "\""), value.last == UInt8(ascii: "\"") {
            value = value.dropFirst().dropLast()
        }
        return (String(decoding: name, as: UTF8.self).lowercased(), Array(value))
    }
}

/// Checks entity tags (RFC 9110 §8.8.3) before they are stored and sent back.
enum EntityTag {
    private static let longest = 256

    /// Returns `nil` for a tag that a request header cannot carry: once stored, it would break every later
    /// fetch.
    static func usable(_ tag: String?) -> String? {
        guard let tag, (1...longest).contains(tag.utf8.count),
            tag.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { return nil }
        return tag
    }
}
