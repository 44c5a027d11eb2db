import AppleAccounts

extension AccountEvent.Kind: StorageCode {
    var storageCode: Int64 {
        switch self {
        case .accountCreated: 1
        case .credentialAuthorized: 2
        case .credentialRevoked: 3
        case .emailChanged: 4
        case .emailForwardingChanged: 5
        case .profileChanged: 6
        case .accountDeleted: 7
        }
    }
}
