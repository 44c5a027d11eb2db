public import Cryptography

/// The code that a device shows and the user enters on the `/oauth/device` page (RFC 8628 §6.1). It consists
/// of eight consonants from a set of twenty, in the format XXXX-XXXX.
///
/// Without vowels a code cannot contain a word, and none of the characters is easily mistaken for another.
/// There are only 20^8 codes, about 2^34.6, so the page limits wrong entries.
public struct UserCode: Sendable, Hashable {
    /// Number of characters.
    public static let length = 8
    private static let alphabet = Array("BCDFGHJKLMNPQRSTVWXZ".utf8)
    /// Maximum size of the user's input in bytes. Dashes and spaces of other scripts take three bytes each.
    private static let longestEntry = 64

    /// The eight characters, without the dash.
    public let text: String

    /// Creates a code from random bytes, with equal probability for each character.
    ///
    /// - Parameter random: Returns this number of bytes from a cryptographic random number generator.
    public init(random: (Int) -> [UInt8]) {
        var characters: [UInt8] = []
        while characters.count < Self.length {
            // 240 is the largest multiple of 20 that fits in a byte, so smaller values are distributed evenly
            // over the characters.
            let usable = random(Self.length * 2).filter { $0 < 240 }
            characters += usable.map { Self.alphabet[Int($0) % Self.alphabet.count] }
        }
        text = String(decoding: characters.prefix(Self.length), as: UTF8.self)
    }

    /// Reads the user's input, ignoring case, dashes and spaces. Returns `nil` if it cannot be a user code.
    public init?(entered text: String) {
        guard text.utf8.count <= Self.longestEntry else { return nil }
        var characters: [UInt8] = []
        for scalar in text.unicodeScalars {
            // Phones turn a typed hyphen into a dash.
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

    /// The code in the format that devices and pages show.
    public var shown: String { "\(text.prefix(Self.length / 2))-\(text.suffix(Self.length / 2))" }

    /// The digest that is stored instead of the code, to keep the code out of backups and hidden from
    /// operators. An attacker who has the database can find the code by trying all codes, but it is valid for
    /// only ten minutes, and only together with a user's sign-in.
    public var digest: SHA256Digest { SHA256Digest.hash("siwa user code \(text)") }
}

extension UserCode: CustomStringConvertible, CustomReflectable {
    /// A description that does not reveal the code.
    public var description: String { "user code" }
    public var customMirror: Mirror { Mirror(self, children: []) }
}
