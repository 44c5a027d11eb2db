extension ErasureOutcome: StorageCode {
    package static let numbered: [ErasureOutcome] = [
        .provenRevoked, .notRevoked,
    ]
}
