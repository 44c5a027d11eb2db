extension NotificationReceipt: StorageCode {
    package static let numbered: [NotificationReceipt] = [
        .applied, .duplicate, .unknownType,
    ]
}
