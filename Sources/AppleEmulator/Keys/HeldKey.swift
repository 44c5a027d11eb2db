/// A signing key of the emulator, and how it is used.
public struct HeldKey: Sendable {
    public let key: SigningKey
    /// Whether `/auth/keys` contains it.
    public internal(set) var isPublished: Bool
    /// Whether valid tokens are signed with it.
    public internal(set) var signs: Bool

    /// Neither published nor used. It still signs forged tokens that name its ID.
    public var isRetired: Bool { !isPublished && !signs }
}
