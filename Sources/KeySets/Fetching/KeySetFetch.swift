/// A fetch that the state machine has started.
package struct KeySetFetch: Sendable, Equatable {
    package let number: UInt64
    /// The value of `If-None-Match`.
    package let entityTag: String?
    /// The deadline, in milliseconds since 1970. A fetch that runs longer has failed.
    package let giveUpAt: Int64
    /// The unknown key ID that caused the fetch; `nil` for a refresh.
    package let keyID: String?

    package init(number: UInt64, entityTag: String?, giveUpAt: Int64, keyID: String? = nil) {
        self.number = number
        self.entityTag = entityTag
        self.giveUpAt = giveUpAt
        self.keyID = keyID
    }
}
