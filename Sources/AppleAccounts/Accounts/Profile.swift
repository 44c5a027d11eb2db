import Encodings

/// The name of a user. The app receives it from Apple once, at the first authorization. It is not signed.
///
/// The sign-in, the record and the account hold it as one value, so that a new member is added here and where
/// it is read and written.
public struct Profile: Sendable, Hashable {
    public var firstName: String?
    public var lastName: String?

    public init(firstName: String? = nil, lastName: String? = nil) {
        (self.firstName, self.lastName) = (firstName, lastName)
    }

    /// The most characters that a name may have.
    public static let longestName = 256

    /// The profile without values that no store accepts: a name that is empty, has control characters or is
    /// too long counts as absent.
    var storable: Profile {
        Profile(
            firstName: firstName?.storable(upTo: Self.longestName),
            lastName: lastName?.storable(upTo: Self.longestName))
    }

    /// Fills missing members from another profile and leaves known members alone: Apple gives the name once,
    /// so a later value never replaces an earlier value. Returns true if anything changed.
    mutating func fill(from other: Profile) -> Bool {
        let before = self
        firstName = firstName ?? other.firstName
        lastName = lastName ?? other.lastName
        return self != before
    }
}

extension String {
    /// Returns the text, or `nil` when it is empty, has control characters or more than `longest` characters.
    func storable(upTo longest: Int) -> String? {
        guard !isEmpty, characterCount <= longest, !hasControlCharacters else { return nil }
        return self
    }
}
