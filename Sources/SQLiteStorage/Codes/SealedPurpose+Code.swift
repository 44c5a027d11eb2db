import AppleAccounts

extension SealedPurpose: StorageCode {
    static let numbered: [SealedPurpose] = [
        .authorizationCode, .refreshToken,
    ]
}
