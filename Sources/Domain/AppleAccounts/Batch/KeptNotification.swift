/// A notification for the inbox.
public struct KeptNotification: Sendable, Hashable {
    public let command: NotificationCommand
    public let receipt: NotificationReceipt
    /// Keys of the notification's events that had not been seen before.
    public let newInboxKeys: [InboxKey]
    /// Payload to keep, as received; only the word "erased" when it is about an erased user.
    public let payload: String

    init(command: NotificationCommand, receipt: NotificationReceipt, newInboxKeys: [InboxKey], isErased: Bool)
    {
        self.command = command
        self.receipt = receipt
        self.newInboxKeys = newInboxKeys
        payload = isErased ? Self.erasedPayload : command.payload
    }

    /// Replaces a payload in the inbox that names an erased user.
    public static let erasedPayload = "erased"
}
