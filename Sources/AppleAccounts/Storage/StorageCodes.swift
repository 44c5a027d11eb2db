extension AccountEvent.Kind: StorageCode {
    package static let numbered: [AccountEvent.Kind] = [
        .accountCreated, .credentialAuthorized, .credentialRevoked, .emailChanged, .emailForwardingChanged,
        .profileChanged, .accountDeleted, .accountErased, .accountTransferred, .grantCreated, .grantRevoked,
    ]
}

extension CredentialReason: StorageCode {
    package static let numbered: [CredentialReason] = [
        .signedIn, .consentRevoked, .appleAccountDeleted, .refreshTokenRejected, .erased,
    ]
}

extension CredentialSource: StorageCode {
    package static let numbered: [CredentialSource] = [
        .signIn, .notification, .dailyCheck, .erasure,
    ]
}

extension CredentialState: StorageCode {
    package static let numbered: [CredentialState] = [
        .authorized, .revoked, .notFound,
    ]
}

extension EmailForwarding: StorageCode {
    package static let numbered: [EmailForwarding] = [
        .enabled, .disabled, .unknown,
    ]
}

extension ErasureOutcome: StorageCode {
    package static let numbered: [ErasureOutcome] = [
        .provenRevoked, .notRevoked,
    ]
}

extension GrantEndReason: StorageCode {
    package static let numbered: [GrantEndReason] = [
        .unlinked, .clientRevoked, .tokenReused, .replaced, .googleRevoked, .consentRevoked,
        .appleAccountDeleted, .erased,
    ]
}

extension NotificationReceipt: StorageCode {
    package static let numbered: [NotificationReceipt] = [
        .applied, .duplicate, .unknownType,
    ]
}

extension RefreshTokenCause: StorageCode {
    package static let numbered: [RefreshTokenCause] = [
        .noSealingKey, .noSigningKey, .codeRejected, .codeExpired, .exchangeUncertain, .clientRejected,
        .identityMismatch, .rejected, .credentialRevoked, .transferred, .sealedUnreadable,
    ]
}

extension SealedPurpose: StorageCode {
    package static let numbered: [SealedPurpose] = [
        .authorizationCode, .refreshToken,
    ]
}

extension TicketPurpose: StorageCode {
    package static let numbered: [TicketPurpose] = [
        .webState, .webBrowser, .webResult,
    ]
}
