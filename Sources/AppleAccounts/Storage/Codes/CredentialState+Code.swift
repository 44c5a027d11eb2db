extension CredentialState: StorageCode {
    package static let numbered: [CredentialState] = [
        .authorized, .revoked, .notFound,
    ]
}
