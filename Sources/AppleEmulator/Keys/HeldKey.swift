/// A key of the emulator and the use that is made of it.
public struct HeldKey: Sendable {
    public let key: SigningKey
    /// Whether `/auth/keys` shows it.
    public internal(set) var isPublished: Bool
    /// Whether honest tokens are signed with it.
    public internal(set) var signs: Bool

    /// Neither shown nor used. It still signs when a token asks for it by its ID.
    public var isRetired: Bool { !isPublished && !signs }
}
