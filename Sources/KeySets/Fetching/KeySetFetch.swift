/// One fetch that the state machine ordered.
package struct KeySetFetch: Sendable, Equatable {
    package let number: UInt64
    /// To be sent as `If-None-Match`.
    package let entityTag: String?
    /// Past this moment it has failed, in milliseconds since 1970.
    package let giveUpAt: Int64

    package init(number: UInt64, entityTag: String?, giveUpAt: Int64) {
        self.number = number
        self.entityTag = entityTag
        self.giveUpAt = giveUpAt
    }
}
