import AppleAccounts

extension AccountEvent.Kind: StorageCode {
    static let numbered: [AccountEvent.Kind] = [
        .accountCreated, .credentialAuthorized, .credentialRevoked, .emailChanged, .emailForwardingChanged,
        .profileChanged, .accountDeleted, .accountErased, .accountTransferred,
    ]
}
