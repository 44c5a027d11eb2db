/// Fetches a remote key set. This is transport only: the response is checked by the caller.
public protocol KeySetSource: Sendable {
    /// Sends one request, with `If-None-Match` when there is an entity tag.
    ///
    /// Reads at most `KeySetResponse.longestBody` bytes, follows no redirect, reacts to cancellation
    /// promptly, and ends within its own time limit. Throws `KeySetFetchError` when the cause is known; any
    /// other error counts as `.unreachable`. A response with any status is returned, not thrown.
    func fetch(ifNoneMatch entityTag: String?) async throws -> KeySetResponse
}
