/// The last good set as it was received, to be stored. It is checked again when it is restored.
public struct KeySetSnapshot: Sendable, Equatable {
    /// The JSON Web Key Set, byte for byte.
    public let body: [UInt8]
    public let entityTag: String?
    /// When Apple last sent or confirmed it, in milliseconds since 1970.
    public let fetchedAt: Int64
    /// In milliseconds since 1970.
    public let freshUntil: Int64

    public init(body: [UInt8], entityTag: String?, fetchedAt: Int64, freshUntil: Int64) {
        self.body = body
        self.entityTag = entityTag
        self.fetchedAt = fetchedAt
        self.freshUntil = freshUntil
    }
}
