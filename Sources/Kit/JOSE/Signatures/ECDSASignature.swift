/// The two forms of an ECDSA signature on P-256.
enum ECDSASignature {
    private static let numberSize = 32

    /// Converts `SEQUENCE { INTEGER r, INTEGER s }` (RFC 3279 §2.2.3), the format of OpenSSL, to r and s of
    /// 32 bytes each (RFC 7518 §3.4). Returns `nil` for any other input.
    static func raw(ofDER der: [UInt8]) -> [UInt8]? {
        // Two numbers of at most 33 bytes need lengths of one byte only.
        guard der.count >= 2, der[0] == 0x30, der[1] < 0x80, Int(der[1]) == der.count - 2 else { return nil }
        var rest = der[2...]
        guard let r = number(&rest), let s = number(&rest), rest.isEmpty else { return nil }
        return r + s
    }

    private static func number(_ rest: inout ArraySlice<UInt8>) -> [UInt8]? {
        guard rest.popFirst() == 0x02, let count = rest.popFirst().map({ Int($0) }), count > 0,
            count <= rest.count
        else { return nil }
        let significant = rest.prefix(count).drop { $0 == 0 }
        rest = rest.dropFirst(count)
        guard significant.count <= numberSize else { return nil }
        return [UInt8](repeating: 0, count: numberSize - significant.count) + significant
    }
}
