public import AppAttestation

extension AccountEvent.Kind: StorageCode {
    public static let numbered: [AccountEvent.Kind] = [
        .accountCreated, .credentialAuthorized, .credentialRevoked, .emailChanged, .emailForwardingChanged,
        .profileChanged, .accountDeleted, .accountErased, .accountTransferred, .grantCreated, .grantRevoked,
        .accountDisabled, .accountEnabled, .sessionsEnded, .tokenRevoked,
    ]
}

extension AttestationEnvironment: StorageCode {
    public static let numbered: [AttestationEnvironment] = [.development, .production]
}

extension AuditAction: StorageCode {
    public static let numbered: [AuditAction] = [
        .grantCreated, .grantWidened, .grantEnded, .tokensIssued, .tokensEnded, .accountErased,
        .accountDisabled, .accountEnabled, .accountSignedOut, .accountTransferred, .accountsExported,
        .auditExported, .auditPurged, .configurationChanged, .signingKeyMade, .signingKeyRemoved,
        .secretsResealed, .deliveryResumed, .deliveryReplayed, .consoleSignIn, .consoleSignOut, .consoleShow,
        .requestReplayed,
    ]
}

extension AuditActor.Kind: StorageCode {
    public static let numbered: [AuditActor.Kind] = [
        .apiKey, .oauthClient, .consoleOperator, .service, .command, .user, .apple, .google,
    ]
}

extension AuditOutcome: StorageCode {
    public static let numbered: [AuditOutcome] = [.done, .refused]
}

extension CredentialReason: StorageCode {
    public static let numbered: [CredentialReason] = [
        .signedIn, .consentRevoked, .appleAccountDeleted, .refreshTokenRejected, .erased,
    ]
}

extension CredentialSource: StorageCode {
    public static let numbered: [CredentialSource] = [
        .signIn, .notification, .dailyCheck, .erasure,
    ]
}

extension CredentialState: StorageCode {
    public static let numbered: [CredentialState] = [
        .authorized, .revoked, .notFound,
    ]
}

extension Disabling.Reason: StorageCode {
    public static let numbered: [Disabling.Reason] = [
        .abuse, .fraud, .security, .payment, .legal, .requested, .other,
    ]
}

extension EmailForwarding: StorageCode {
    public static let numbered: [EmailForwarding] = [
        .enabled, .disabled, .unknown,
    ]
}

extension ErasureOutcome: StorageCode {
    public static let numbered: [ErasureOutcome] = [
        .provenRevoked, .notRevoked,
    ]
}

extension GoogleEventKind: StorageCode {
    public static let numbered: [GoogleEventKind] = [
        .sessionsRevoked, .tokensRevoked, .tokenRevoked, .accountDisabled, .accountEnabled,
        .credentialChangeRequired, .verification, .other,
    ]
}

extension GoogleEventReason: StorageCode {
    public static let numbered: [GoogleEventReason] = [
        .hijacking, .bulkAccount,
    ]
}

extension GrantEndReason: StorageCode {
    public static let numbered: [GrantEndReason] = [
        .unlinked, .clientRevoked, .tokenReused, .replaced, .googleRevoked, .consentRevoked,
        .appleAccountDeleted, .erased, .signedOut,
    ]
}

extension HistoryEntry.Kind: StorageCode {
    public static let numbered: [HistoryEntry.Kind] = [
        .signIn, .exchange, .consentRevoked, .appleAccountDeleted, .emailForwarding, .refreshTokenRejected,
    ]
}

extension HistoryEntry.Outcome: StorageCode {
    public static let numbered: [HistoryEntry.Outcome] = [
        .changed, .overtaken, .alreadySo, .tokenKept, .tokenSuperseded, .tokenDropped, .tokenUnavailable,
        .ignored,
    ]
}

extension NotificationReceipt: StorageCode {
    public static let numbered: [NotificationReceipt] = [
        .applied, .duplicate, .unknownType, .unchanged,
    ]
}

extension RefreshTokenCause: StorageCode {
    public static let numbered: [RefreshTokenCause] = [
        .noSealingKey, .noSigningKey, .codeRejected, .codeExpired, .exchangeUncertain, .clientRejected,
        .identityMismatch, .rejected, .credentialRevoked, .transferred, .sealedUnreadable,
    ]
}

extension SealedPurpose: StorageCode {
    public static let numbered: [SealedPurpose] = [
        .authorizationCode, .refreshToken,
    ]
}

extension TicketPurpose: StorageCode {
    public static let numbered: [TicketPurpose] = [
        .webState, .webBrowser, .webResult, .endedSession,
    ]
}
