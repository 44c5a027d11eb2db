/// The rule of `tracestate` (W3C Trace Context §3.3). siwa has no member of its own, so it keeps or drops the whole.
public enum TraceState {
    /// Bytes of a value that programs should pass on. A longer value is dropped: a part of it would be another value.
    public static let longest = 512
    private static let mostMembers = 32

    /// - Parameter fields: The values of all fields with this name, in their order.
    /// - Returns: The value, or `nil` for none and for a value that is not well formed.
    public static func accept(_ fields: [String]) -> String? {
        var total = 0
        for field in fields { total += field.utf8.count + 1 }
        // Before anything else, so that many fields cost nothing.
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

    /// A key begins with a letter or, for a tenant of a system, with a letter or a digit.
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

    /// Printable ASCII without comma and equals sign. The space at its end was removed already.
    private static func isValue(_ value: Substring) -> Bool {
        !value.isEmpty && value.utf8.count <= 256
            && value.utf8.allSatisfy {
                (0x20...0x7E).contains($0) && $0 != UInt8(ascii: ",") && $0 != UInt8(ascii: "=")
            }
    }
}
