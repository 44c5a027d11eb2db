extension CredentialReason: StorageCode {
    package static let numbered: [CredentialReason] = [
        .signedIn, .consentRevoked, .appleAccountDeleted, .refreshTokenRejected, .erased,
    ]
}
