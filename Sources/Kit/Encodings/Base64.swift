/// base64 with padding (RFC 4648 §4), as in PEM files and configurations, in canonical form only.
public enum Base64 {
    /// Returns `nil` for a text that is not in the standard alphabet with padding.
    public static func decode(_ text: String) -> [UInt8]? {
        var bytes = Array(text.utf8)
        guard bytes.count % 4 == 0 else { return nil }
        for _ in 0..<2 where bytes.last == UInt8(ascii: "=") { bytes.removeLast() }
        // The two alphabets differ in two characters.
        for index in bytes.indices {
            switch bytes[index] {
            case UInt8(ascii: "-"), UInt8(ascii: "_"): return nil
            case UInt8(ascii: "+"): bytes[index] = UInt8(ascii: "-")
            case UInt8(ascii: "/"): bytes[index] = UInt8(ascii: "_")
            default: break
            }
        }
        return Base64URL.decode(bytes[...])
    }

    public static func encode(_ bytes: some Collection<UInt8>) -> String {
        var text = Array(Base64URL.encode(bytes).utf8)
        for index in text.indices {
            switch text[index] {
            case UInt8(ascii: "-"): text[index] = UInt8(ascii: "+")
            case UInt8(ascii: "_"): text[index] = UInt8(ascii: "/")
            default: break
            }
        }
        while text.count % 4 != 0 { text.append(UInt8(ascii: "=")) }
        return String(decoding: text, as: UTF8.self)
    }
}
