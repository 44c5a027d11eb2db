/// base64 with padding (RFC 4648 §4), as in PEM files and configurations, in canonical form only.
public enum Base64 {
    /// Returns `nil` for a text that is not in the standard alphabet with padding.
    public static func decode(_ text: String) -> [UInt8]? {
        guard text.utf8.count % 4 == 0,
            !text.utf8.contains(where: { $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") })
        else { return nil }
        let unpadded =
            text.hasSuffix("==") ? text.dropLast(2) : text.hasSuffix("=") ? text.dropLast() : text[...]
        return Base64URL.decode(String(unpadded.replacing("+", with: "-").replacing("/", with: "_")))
    }

    public static func encode(_ bytes: some Collection<UInt8>) -> String {
        let text = Base64URL.encode(bytes).replacing("-", with: "+").replacing("_", with: "/")
        return text + String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
    }
}
