extension RefreshTokenCause: StorageCode {
    package static let numbered: [RefreshTokenCause] = [
        .noSealingKey, .noSigningKey, .codeRejected, .codeExpired, .exchangeUncertain, .clientRejected,
        .identityMismatch, .rejected, .credentialRevoked, .transferred, .sealedUnreadable,
    ]
}
