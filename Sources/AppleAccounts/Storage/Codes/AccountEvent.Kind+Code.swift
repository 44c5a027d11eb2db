extension AccountEvent.Kind: StorageCode {
    package static let numbered: [AccountEvent.Kind] = [
        .accountCreated, .credentialAuthorized, .credentialRevoked, .emailChanged, .emailForwardingChanged,
        .profileChanged, .accountDeleted, .accountErased, .accountTransferred,
    ]
}
