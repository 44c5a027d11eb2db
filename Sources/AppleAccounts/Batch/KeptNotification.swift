/// A notification for the inbox.
public struct KeptNotification: Sendable, Hashable {
    public let command: NotificationCommand
    public let receipt: NotificationReceipt
    /// The keys of its events that had not been seen before.
    public let newInboxKeys: [InboxKey]
    /// What to keep of it as it came; only the word "erased" when it is about a person who was erased.
    public let payload: String

    init(command: NotificationCommand, receipt: NotificationReceipt, newInboxKeys: [InboxKey], isErased: Bool)
    {
        self.command = command
        self.receipt = receipt
        self.newInboxKeys = newInboxKeys
        payload = isErased ? Self.erasedPayload : command.payload
    }

    /// Replaces a payload in the inbox that names a person who was erased.
    public static let erasedPayload = "erased"
}
