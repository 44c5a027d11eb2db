import AppleAccounts

extension ErasureOutcome: StorageCode {
    static let numbered: [ErasureOutcome] = [
        .provenRevoked, .notRevoked,
    ]
}
