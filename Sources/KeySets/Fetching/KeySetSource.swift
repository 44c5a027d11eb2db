/// Where a remote key set comes from: transport only, no opinion about what comes back.
public protocol KeySetSource: Sendable {
    /// Asks once, with `If-None-Match` when there is an entity tag.
    ///
    /// Reads at most `KeySetResponse.longestBody` bytes, follows no redirect, answers cancellation promptly,
    /// and ends within bounds of its own. Throws `KeySetFetchError` where it can name the cause; any other
    /// error counts as `.unreachable`. Every status is an answer, not an error.
    func fetch(ifNoneMatch entityTag: String?) async throws -> KeySetResponse
}
