extension EmailForwarding: StorageCode {
    package static let numbered: [EmailForwarding] = [
        .enabled, .disabled, .unknown,
    ]
}
