extension SealedPurpose: StorageCode {
    package static let numbered: [SealedPurpose] = [
        .authorizationCode, .refreshToken,
    ]
}
