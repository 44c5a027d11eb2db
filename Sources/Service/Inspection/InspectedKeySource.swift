package import KeySets
package import StrictJSON

/// The source of the keys of an inspection.
package protocol InspectedKeySource: Sendable {
    /// Returns Apple's usable keys. Throws `KeysUnavailable`, whose description is for the user.
    func appleKeys() async throws(KeysUnavailable) -> InspectedKeys

    /// Returns the entries of the key set of the service that has issued the token.
    func issuerKeys() async throws(KeysUnavailable) -> [JSONValue]
}

/// The keys cannot be had now.
package struct KeysUnavailable: Error, CustomStringConvertible {
    package let description: String

    package init(description: String) {
        self.description = description
    }
}

/// Keys that verify tokens of others.
package struct InspectedKeys: Sendable {
    package let keys: any VerificationKeys
    /// The IDs of the usable keys; `nil` where they are not listed.
    package let keyIDs: [String]?

    package init(_ keys: any VerificationKeys, keyIDs: [String]?) {
        (self.keys, self.keyIDs) = (keys, keyIDs)
    }
}
