import AppleAccounts

extension CredentialState: StorageCode {
    static let numbered: [CredentialState] = [
        .authorized, .revoked, .notFound,
    ]
}
