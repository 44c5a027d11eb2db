/// A notification that the receiver has not accepted yet: it is held, or will be retried.
public struct WaitingNotification: Sendable, Equatable, Codable {
    public let id: Int
    public let notification: MintedNotification
    public let target: NotificationTarget
    /// The number of attempts.
    public internal(set) var attempts: Int
    /// In milliseconds since 1970; `nil` when it is held until it is released.
    public internal(set) var nextAttemptAt: Int64?

    public var isHeld: Bool { nextAttemptAt == nil }
}
