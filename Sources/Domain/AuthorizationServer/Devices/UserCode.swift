public import Cryptography

/// The code that a device shows and its user enters on the page `/oauth/device` (RFC 8628 §6.1):
/// eight of twenty consonants, shown as XXXX-XXXX.
///
/// Without vowels no code spells a word, and no character looks like another. There are 20^8 codes, about
/// 2^34.6, so the page counts wrong codes.
public struct UserCode: Sendable, Hashable {
    /// Number of characters.
    public static let length = 8
    private static let alphabet = Array("BCDFGHJKLMNPQRSTVWXZ".utf8)
    /// Largest size in bytes of the user's input. Dashes and spaces of other scripts have three bytes.
    private static let longestEntry = 64

    /// The eight characters, without the dash.
    public let text: String

    /// Creates a code from random bytes, each character with the same probability.
    ///
    /// - Parameter random: Returns bytes of a cryptographic generator.
    public init(random: (Int) -> [UInt8]) {
        var characters: [UInt8] = []
        while characters.count < Self.length {
            // 240 is the largest multiple of 20 that a byte can have.
            let usable = random(Self.length * 2).filter { $0 < 240 }
            characters += usable.map { Self.alphabet[Int($0) % Self.alphabet.count] }
        }
        text = String(decoding: characters.prefix(Self.length), as: UTF8.self)
    }

    /// Reads the user's input, ignoring case, dashes and spaces.
    /// Returns `nil` for a text that no device shows.
    public init?(entered text: String) {
        guard text.utf8.count <= Self.longestEntry else { return nil }
        var characters: [UInt8] = []
        for scalar in text.unicodeScalars {
            // Phones replace a hyphen by a dash.
            if scalar.properties.generalCategory == .dashPunctuation || scalar.properties.isWhitespace {
                continue
            }
            guard scalar.isASCII, let byte = Self.uppercased(UInt8(scalar.value)) else { return nil }
            characters.append(byte)
        }
        guard characters.count == Self.length else { return nil }
        self.text = String(decoding: characters, as: UTF8.self)
    }

    private static func uppercased(_ byte: UInt8) -> UInt8? {
        let isLower = (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
        let upper = isLower ? byte & 0xDF : byte
        return alphabet.contains(upper) ? upper : nil
    }

    /// The format that devices and pages show.
    public var shown: String { "\(text.prefix(Self.length / 2))-\(text.suffix(Self.length / 2))" }

    /// The digest for storage. It keeps the code out of backups and hides it from operators. An
    /// attacker with the database can find the code by trying all codes; the code is valid for
    /// ten minutes, and only with a user's sign-in.
    public var digest: SHA256Digest { SHA256Digest.hash("siwa user code \(text)") }
}

extension UserCode: CustomStringConvertible, CustomReflectable {
    /// A description without the code.
    public var description: String { "user code" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
