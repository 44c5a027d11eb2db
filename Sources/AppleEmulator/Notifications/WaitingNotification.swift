/// A notification that the receiver has not taken yet: kept back, or to be posted again.
public struct WaitingNotification: Sendable, Equatable, Codable {
    public let id: Int
    public let notification: MintedNotification
    public let target: NotificationTarget
    /// How often it has been posted.
    public internal(set) var attempts: Int
    /// Milliseconds since 1970; `nil` for one that is kept back until it is released.
    public internal(set) var nextAttemptAt: Int64?

    public var isHeld: Bool { nextAttemptAt == nil }
}
