/// A response's freshness according to its headers (RFC 9111 §4.2.1, §5.1, §5.2.2).
package enum CacheControl: Sendable, Equatable {
    /// The response does not state its freshness.
    case absent
    /// The response forbids caching, or its directives are malformed.
    case unusable
    /// The response stays fresh for this long from now; zero if it was stale on arrival.
    case fresh(milliseconds: Int64)

    /// Maximum size of a header in bytes, far larger than any real header. Longer headers are ignored.
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
                // If the directive is repeated, its first value applies (RFC 9111 §4.2.1).
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

    /// Parses a number. Returns `nil` unless the value has only digits and fits in 64 bits.
    private static func seconds(_ value: [UInt8]) -> Int64? {
        guard !value.isEmpty, value.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return Int64(String(decoding: value, as: UTF8.self))
    }

    /// Parses the age. An age that does not fit in 64 bits becomes the maximum, and an age that is not a
    /// number is ignored.
    private static func age(_ field: String) -> Int64 {
        guard !field.isEmpty, field.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return 0 }
        return Int64(field) ?? .max
    }

    /// Splits a header at the commas outside quoted strings, because
    /// an attacker's `private="max-age=9"` is a single directive.
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
        // Recipients must accept both forms of an argument (RFC 9111 §5.2).
        if value.count >= 2, value.first == UInt8(ascii: "\""), value.last == UInt8(ascii: "\"") {
            value = value.dropFirst().dropLast()
        }
        return (String(decoding: name, as: UTF8.self).lowercased(), Array(value))
    }
}

/// Checks entity tags (RFC 9110 §8.8.3) before the service stores them and sends them back.
enum EntityTag {
    private static let longest = 256

    /// Returns `nil` for a tag that a request header cannot contain,
    /// because storing such a tag would break every later fetch.
    static func usable(_ tag: String?) -> String? {
        guard let tag, (1...longest).contains(tag.utf8.count),
            tag.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { return nil }
        return tag
    }
}
