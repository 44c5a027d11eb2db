/// How many fetches ended how, since the process started.
public struct KeySetFetchCounters: Sendable, Equatable {
    /// A new set came.
    public internal(set) var replaced = 0
    /// 304: the set at hand is still Apple's.
    public internal(set) var confirmed = 0
    /// Apple was not asked, because another process had just stored what it got.
    public internal(set) var adopted = 0
    public internal(set) var failed: [KeySetFetchError.Code: Int] = [:]

    public init() {}
}
