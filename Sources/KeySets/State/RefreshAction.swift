/// What the refresh loop does next.
package enum RefreshAction: Sendable, Equatable {
    case startFetch(KeySetFetch)
    /// Wait for the fetch with this number.
    case joinFetch(UInt64)
    case sleep(untilMilliseconds: Int64)
}
