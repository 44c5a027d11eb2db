import Encodings

/// The name of a person, as the app gets it from Apple once, at the first authorization. It is not signed.
///
/// The sign-in, the record and the account have it as one value, so that a new member is added here and where
/// it is read and written.
public struct Profile: Sendable, Hashable {
    public var firstName: String?
    public var lastName: String?

    public init(firstName: String? = nil, lastName: String? = nil) {
        (self.firstName, self.lastName) = (firstName, lastName)
    }

    /// The most characters that a name may have.
    public static let longestName = 256

    /// The profile without what no store keeps: a name that is empty, has control characters or is too long
    /// counts as absent.
    var storable: Profile {
        Profile(
            firstName: firstName?.storable(upTo: Self.longestName),
            lastName: lastName?.storable(upTo: Self.longestName))
    }

    /// Takes what is missing from another profile, and leaves what is known: Apple gives the name once, so a
    /// later value never replaces an earlier one. Returns whether anything changed.
    mutating func fill(from other: Profile) -> Bool {
        let before = self
        firstName = firstName ?? other.firstName
        lastName = lastName ?? other.lastName
        return self != before
    }
}

extension String {
    /// The text, or `nil` when it is empty, has control characters or more characters than this.
    func storable(upTo longest: Int) -> String? {
        guard !isEmpty, characterCount <= longest, !hasControlCharacters else { return nil }
        return self
    }
}
