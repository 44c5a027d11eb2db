import AppleAccounts

extension CredentialSource: StorageCode {
    var storageCode: Int64 {
        switch self {
        case .signIn: 1
        case .notification: 2
        case .dailyCheck: 3
        case .erasure: 4
        }
    }
}
