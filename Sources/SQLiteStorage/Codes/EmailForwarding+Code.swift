import AppleAccounts

extension EmailForwarding: StorageCode {
    static let numbered: [EmailForwarding] = [
        .enabled, .disabled, .unknown,
    ]
}
