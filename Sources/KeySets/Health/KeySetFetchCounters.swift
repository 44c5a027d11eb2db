/// The number of fetches by result, since the process started.
public struct KeySetFetchCounters: Sendable, Equatable {
    /// A new set was received.
    public internal(set) var replaced = 0
    /// 304: the cached set is still current.
    public internal(set) var confirmed = 0
    /// No request was sent to Apple, because another process had just stored a set.
    public internal(set) var adopted = 0
    public internal(set) var failed: [KeySetFetchError.Code: Int] = [:]

    public init() {}
}
