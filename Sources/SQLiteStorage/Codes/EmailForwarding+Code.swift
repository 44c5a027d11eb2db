import AppleAccounts

extension EmailForwarding: StorageCode {
    var storageCode: Int64 {
        switch self {
        case .enabled: 1
        case .disabled: 2
        case .unknown: 3
        }
    }
}
