import HTTPEngine

/// The fields of a query or a form (URL Standard §5.1). The first field of a name counts.
enum ConsoleFields {
    /// Bound in bytes.
    static let mostBytes = 65_536
    /// Number of fields.
    static let mostFields = 256

    /// Returns `nil` for too many bytes or fields, a broken escape, and bytes that are not UTF-8.
    static func decode(_ bytes: some Collection<UInt8>) -> [String: String]? {
        guard bytes.count <= mostBytes else { return nil }
        var fields: [String: String] = [:]
        var count = 0
        for pair in Array(bytes).split(separator: UInt8(ascii: "&")) {
            count += 1
            guard count <= mostFields else { return nil }
            let mark = pair.firstIndex(of: UInt8(ascii: "=")) ?? pair.endIndex
            guard let name = decoded(pair[..<mark]), let value = decoded(pair[mark...].dropFirst()) else {
                return nil
            }
            if fields[name] == nil { fields[name] = value }
        }
        return fields
    }

    private static func decoded(_ bytes: ArraySlice<UInt8>) -> String? {
        bytes.withUnsafeBufferPointer { bytes in
            try? PercentEncoding.decode(bytes, plus: UInt8(ascii: " ")).get()
        }
    }
}
