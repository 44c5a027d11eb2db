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
