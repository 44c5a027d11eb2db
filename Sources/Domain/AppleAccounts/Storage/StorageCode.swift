public import AppAttestation

/// A fixed set of words. Rows store each word as a small number, which is the same in every database.
public protocol StorageCode: CaseIterable, Hashable, Sendable {
    /// All words in order; the first has the number 1. Only append to the list, even if it is `allCases`,
    /// because the numbers are in operators' databases. `StorageCodeTests` pins them.
    static var numbered: [Self] { get }
}

extension StorageCode {
    /// - Throws: `StorageError` for a number that this version does not know.
    public init(storageCode: Int64) throws(StorageError) {
        guard storageCode > 0, storageCode <= Self.numbered.count else {
            throw StorageError(
                .corrupted,
                detail:
                    "expected a number of \(Self.self), found \(storageCode); is the program older than the database?"
            )
        }
        self = Self.numbered[Int(storageCode) - 1]
    }

    public var storageCode: Int64 {
        let numbered = Self.numbered
        // The code uses a loop, because generic code would look up the result type of `firstIndex(of:)` in
        // each call.
        for index in 0..<numbered.count where numbered[index] == self { return Int64(index) + 1 }
        preconditionFailure("\(self) is missing in \(Self.self).numbered")
    }
}

extension AccountEvent.Kind: StorageCode {
    public static let numbered = allCases
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
    public static let numbered = allCases
}

extension CredentialSource: StorageCode {
    public static let numbered = allCases
}

extension CredentialState: StorageCode {
    public static let numbered: [CredentialState] = [
        .authorized, .revoked, .notFound,
    ]
}

extension Disabling.Reason: StorageCode {
    public static let numbered = allCases
}

extension EmailForwarding: StorageCode {
    public static let numbered = allCases
}

extension ErasureOutcome: StorageCode {
    public static let numbered: [ErasureOutcome] = [
        .provenRevoked, .notRevoked,
    ]
}

extension GoogleEventKind: StorageCode {
    public static let numbered = allCases
}

extension GoogleEventReason: StorageCode {
    public static let numbered = allCases
}

extension GrantEndReason: StorageCode {
    public static let numbered = allCases
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

extension AppCheckTarget.Kind: StorageCode {
    public static var numbered: [AppCheckTarget.Kind] { [.app, .oauthClient] }
}

extension ErasureToken.Step {
    /// Reads the step and its outcome from their two columns.
    public init(storageCode: Int64?, outcome: Int64?) throws(StorageError) {
        switch storageCode {
        case 1: self = .exchange
        case 2: self = .revoke
        case 3: self = .prove
        case 4: self = .done(try ErasureOutcome(storageCode: outcome ?? 0))
        default:
            throw StorageError(
                .corrupted, detail: "expected a step from 1 to 4, found another; restore a backup")
        }
    }

    /// The values for the columns that store the step and its outcome.
    public var storageCodes: (step: Int64, outcome: Int64?) {
        switch self {
        case .exchange: (1, nil)
        case .revoke: (2, nil)
        case .prove: (3, nil)
        case .done(let outcome): (4, outcome.storageCode)
        }
    }
}

extension RefreshTokenStatus {
    /// Reads the status and its cause from their two columns. Returns `nil` if the first is NULL.
    public init?(storageCode: Int64?, cause: Int64?) throws(StorageError) {
        switch storageCode {
        case nil: return nil
        case 1: self = .held
        case 2: self = .pending
        case 3:
            guard let cause else {
                throw StorageError(
                    .corrupted, detail: "expected a cause beside status 3, found none; restore a backup")
            }
            self = .unavailable(try RefreshTokenCause(storageCode: cause))
        default:
            throw StorageError(
                .corrupted, detail: "expected a status from 1 to 3, found another; restore a backup")
        }
    }

    /// The values for the columns that store the status and its cause.
    public var storageCodes: (status: Int64, cause: Int64?) {
        switch self {
        case .held: (1, nil)
        case .pending: (2, nil)
        case .unavailable(let cause): (3, cause.storageCode)
        }
    }
}
