/// Fetches a remote key set. This is transport only: the response is checked by the caller.
public protocol KeySetSource: Sendable {
    /// Sends one request, with `If-None-Match` when there is an entity tag.
    ///
    /// Reads at most `KeySetResponse.longestBody` bytes, follows no redirect, reacts to cancellation
    /// promptly, and ends within its own time limit. Throws `KeySetFetchError` when the cause is known; any
    /// other error counts as `.unreachable`. A response with any status is returned, not thrown.
    func fetch(ifNoneMatch entityTag: String?) async throws -> KeySetResponse
}

/// The response of a key-set endpoint: the parts of the HTTP response that the cache needs, not yet checked.
public struct KeySetResponse: Sendable, Equatable {
    /// The longest accepted body in bytes. Apple's key set has about 2 KiB.
    public static let longestBody = 65_536

    public let status: Int
    public let body: [UInt8]
    public let contentType: String?
    public let entityTag: String?
    /// All `Cache-Control` fields, joined by commas (RFC 9110 §5.3).
    public let cacheControl: String?
    /// The `Age` field, in seconds (RFC 9111 §5.1).
    public let age: String?

    public init(
        status: Int, body: [UInt8], contentType: String? = nil, entityTag: String? = nil,
        cacheControl: String? = nil, age: String? = nil
    ) {
        self.status = status
        self.body = body
        self.contentType = contentType
        self.entityTag = entityTag
        self.cacheControl = cacheControl
        self.age = age
    }
}
