import AppleAccounts

extension CredentialReason: StorageCode {
    var storageCode: Int64 {
        switch self {
        case .signedIn: 1
        case .consentRevoked: 2
        case .appleAccountDeleted: 3
        case .refreshTokenRejected: 4
        case .erased: 5
        }
    }
}
