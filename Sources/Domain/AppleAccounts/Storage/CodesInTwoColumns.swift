extension ErasureToken.Step {
    /// Reads the step and its outcome from two columns.
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

    /// Values of the two columns.
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
    /// Reads the status and its cause from two columns. Returns `nil` when the first is NULL.
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

    /// Values of the two columns.
    public var storageCodes: (status: Int64, cause: Int64?) {
        switch self {
        case .held: (1, nil)
        case .pending: (2, nil)
        case .unavailable(let cause): (3, cause.storageCode)
        }
    }
}
