import AppleAccounts

extension NotificationReceipt: StorageCode {
    var storageCode: Int64 {
        switch self {
        case .applied: 1
        case .duplicate: 2
        case .unknownType: 3
        }
    }
}
