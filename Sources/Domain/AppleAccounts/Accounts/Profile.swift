import Encodings

/// The user's name. Apple sends it to the app, unsigned, only at the first authorization.
///
/// The sign-in, the record and the account hold the name as one value, so a new member affects only this type
/// and the code that reads and writes it.
public struct Profile: Sendable, Hashable {
    public var firstName: String?
    public var lastName: String?

    public init(firstName: String? = nil, lastName: String? = nil) {
        (self.firstName, self.lastName) = (firstName, lastName)
    }

    /// Maximum length of a name, in characters.
    public static let longestName = 256

    /// The profile with names that every store accepts. Apple sends a name only once, so unsuitable names are
    /// cleaned and shortened rather than dropped; only an empty name counts as absent.
    var storable: Profile {
        Profile(firstName: firstName.flatMap(Self.storable), lastName: lastName.flatMap(Self.storable))
    }

    /// Returns the name shortened to `longestName`, with each run of control characters and white space
    /// replaced by one space; `nil` when nothing remains.
    private static func storable(_ name: String) -> String? {
        if let name = name.storable(upTo: longestName) { return name }
        let words = name.split { $0.isWhitespace || String($0).hasControlCharacters }
        var (text, count) = ("", 0)
        // The loop cuts between characters, so that no letter loses its accent.
        for character in words.joined(separator: " ") {
            count += character.unicodeScalars.count
            guard count <= longestName else { break }
            text.append(character)
        }
        return text.isEmpty ? nil : text
    }

    /// Fills missing members from another profile, and keeps known members: Apple sends the name once, so a
    /// later value never replaces an earlier value. Returns true if anything changed.
    mutating func fill(from other: Profile) -> Bool {
        let before = self
        firstName = firstName ?? other.firstName
        lastName = lastName ?? other.lastName
        return self != before
    }
}

extension String {
    /// Returns the text; `nil` if it is empty, has control characters, or exceeds `longest` characters.
    func storable(upTo longest: Int) -> String? {
        guard !isEmpty, characterCount <= longest, !hasControlCharacters else { return nil }
        return self
    }
}

/// An e-mail address that Apple signed. It never identifies a user, because it can change, and can belong to
/// different users at different times.
public struct EmailAddress: Sendable, Hashable {
    public let address: String
    public let isVerified: Bool
    /// True for a relay address, which hides the real address; `nil` when unknown.
    public let isPrivate: Bool?

    /// Returns `nil` unless the address has 1 to 320 characters (RFC 3696 §3) and no control character.
    public init?(address: String, isVerified: Bool, isPrivate: Bool?) {
        guard (1...320).contains(address.characterCount), !address.hasControlCharacters else {
            return nil
        }
        (self.address, self.isVerified, self.isPrivate) = (address, isVerified, isPrivate)
    }

    public static func == (lhs: Self, rhs: Self) -> Bool {
        lhs.isVerified == rhs.isVerified && lhs.isPrivate == rhs.isPrivate
            && lhs.address.isByteEqual(to: rhs.address)
    }

    public func hash(into hasher: inout Hasher) {
        for byte in address.utf8 { hasher.combine(byte) }
    }
}

extension EmailAddress: Comparable {
    /// Breaks ties between equal moments. No kind of address is preferred.
    public static func < (lhs: Self, rhs: Self) -> Bool {
        guard lhs.address.isByteEqual(to: rhs.address) else {
            return lhs.address.utf8.lexicographicallyPrecedes(rhs.address.utf8)
        }
        return lhs.flags < rhs.flags
    }

    private var flags: Int { (isVerified ? 1 : 0) + (isPrivate.map { $0 ? 4 : 2 } ?? 0) }
}
