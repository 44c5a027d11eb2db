/// A notification for the inbox.
public struct KeptNotification: Sendable, Hashable {
    public let command: NotificationCommand
    public let receipt: NotificationReceipt
    /// The keys of its events that had not been seen before.
    public let newInboxKeys: [InboxKey]
}
