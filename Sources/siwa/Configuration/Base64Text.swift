import JOSE

/// The base64 of PEM files.
enum Base64Text {
    /// Returns `nil` for anything but the standard alphabet with its padding.
    static func decode(_ text: String) -> [UInt8]? {
        guard text.utf8.count % 4 == 0,
            !text.utf8.contains(where: { $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") })
        else { return nil }
        let unpadded =
            text.hasSuffix("==") ? text.dropLast(2) : text.hasSuffix("=") ? text.dropLast() : text[...]
        return Base64URL.decode(String(unpadded.replacing("+", with: "-").replacing("/", with: "_")))
    }
}
