import AppleAccounts

extension CredentialReason: StorageCode {
    static let numbered: [CredentialReason] = [
        .signedIn, .consentRevoked, .appleAccountDeleted, .refreshTokenRejected, .erased,
    ]
}
