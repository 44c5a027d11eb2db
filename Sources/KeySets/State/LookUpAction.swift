/// What to do about a key ID.
package enum LookUpAction: Sendable, Equatable {
    /// The key is at hand.
    case use
    /// The key is at hand; fetch as well, but do not wait.
    case useAndStartFetch(KeySetFetch)
    case startFetch(KeySetFetch)
    /// Wait for the fetch with this number.
    case joinFetch(UInt64)
    case refuse(KeySetError.Code)
}
