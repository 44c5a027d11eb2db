extension CredentialSource: StorageCode {
    package static let numbered: [CredentialSource] = [
        .signIn, .notification, .dailyCheck, .erasure,
    ]
}
