/// An Android app: its package, and the certificates that sign it.
public struct AndroidApp: Sendable, Hashable {
    /// The application ID, like `com.example.app`.
    public let package: String
    /// SHA-256 of each certificate, in capital hexadecimal digits with colons between the bytes.
    public let fingerprints: [String]

    /// Returns `true` for an application ID: at least two parts of letters, digits and underscores, each of
    /// which begins with a letter, in at most 255 characters.
    static func isPackage(_ text: String) -> Bool {
        let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return text.utf8.count <= 255 && parts.count >= 2
            && parts.allSatisfy { part in
                part.first?.isLetter ?? false
                    && part.allSatisfy { $0.isLetter || $0.isDigit || $0 == UInt8(ascii: "_") }
            }
    }

    /// Returns the fingerprint in capital digits. `nil` unless the text has 32 bytes of two hexadecimal digits,
    /// with colons between them, as `keytool` and Google Play print them.
    static func fingerprint(_ text: String) -> String? {
        let bytes = text.utf8.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        guard bytes.count == 32, bytes.allSatisfy({ $0.count == 2 && $0.allSatisfy(isHexadecimal) }) else {
            return nil
        }
        return text.uppercased()
    }

    private static func isHexadecimal(_ byte: UInt8) -> Bool {
        byte.isDigit || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte | 0x20)
    }
}
