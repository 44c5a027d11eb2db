import AppleAccounts

extension CredentialSource: StorageCode {
    static let numbered: [CredentialSource] = [
        .signIn, .notification, .dailyCheck, .erasure,
    ]
}
