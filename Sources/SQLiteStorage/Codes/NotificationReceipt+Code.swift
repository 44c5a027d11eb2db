import AppleAccounts

extension NotificationReceipt: StorageCode {
    static let numbered: [NotificationReceipt] = [
        .applied, .duplicate, .unknownType,
    ]
}
