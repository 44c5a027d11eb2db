extension ErasureGrant.Step {
    /// Reads the step and its outcome from two columns.
    package init(storageCode: Int64?, outcome: Int64?) throws(StorageError) {
        switch storageCode {
        case 1: self = .exchange
        case 2: self = .revoke
        case 3: self = .prove
        case 4: self = .done(try ErasureOutcome(storageCode: outcome ?? 0))
        default: throw StorageError(.corrupted, detail: "an unknown step")
        }
    }

    /// What the two columns hold.
    package var storageCodes: (step: Int64, outcome: Int64?) {
        switch self {
        case .exchange: (1, nil)
        case .revoke: (2, nil)
        case .prove: (3, nil)
        case .done(let outcome): (4, outcome.storageCode)
        }
    }
}
