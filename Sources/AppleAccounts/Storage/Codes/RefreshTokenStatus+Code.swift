extension RefreshTokenStatus {
    /// Reads the status and its cause from two columns. Returns `nil` when the first is NULL.
    package init?(storageCode: Int64?, cause: Int64?) throws(StorageError) {
        switch storageCode {
        case nil: return nil
        case 1: self = .held
        case 2: self = .pending
        case 3:
            guard let cause else {
                throw StorageError(.corrupted, detail: "no cause")
            }
            self = .unavailable(try RefreshTokenCause(storageCode: cause))
        default: throw StorageError(.corrupted, detail: "an unknown status of a refresh token")
        }
    }

    /// What the two columns hold.
    package var storageCodes: (status: Int64, cause: Int64?) {
        switch self {
        case .held: (1, nil)
        case .pending: (2, nil)
        case .unavailable(let cause): (3, cause.storageCode)
        }
    }
}
