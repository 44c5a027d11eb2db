/// What to do for the look-up of a key ID.
package enum LookUpAction: Sendable, Equatable {
    /// The key is in the cache.
    case use
    /// The key is in the cache; start a fetch, but do not wait for it.
    case useAndStartFetch(KeySetFetch)
    case startFetch(KeySetFetch)
    /// Wait for the fetch with this number.
    case joinFetch(UInt64)
    case refuse(KeySetError.Code)
}
