/// One fetch that the state machine ordered.
package struct KeySetFetch: Sendable, Equatable {
    package let number: UInt64
    /// To be sent as `If-None-Match`.
    package let entityTag: String?
    /// Past this moment it has failed, in milliseconds since 1970.
    package let giveUpAt: Int64
    /// The unknown key that it is for; `nil` when it is to keep the set fresh.
    package let keyID: String?

    package init(number: UInt64, entityTag: String?, giveUpAt: Int64, keyID: String? = nil) {
        self.number = number
        self.entityTag = entityTag
        self.giveUpAt = giveUpAt
        self.keyID = keyID
    }
}
