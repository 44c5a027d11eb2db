import AppleEmulator

/// Three keys, generated once for the whole run.
enum TestKeys {
    static let keyIDs = ["pggnQeNCOU", "86D88Kf", "YuyXoY"]

    /// Signs the client secrets of the team in `EmulatorUnderTest`.
    static let clientKeyID = "ABC123DEFG"
    static var clientKey: ClientKey {
        get throws {
            try ClientKey(teamID: EmulatorUnderTest.teamID, keyID: clientKeyID, pem: clientKeyPEM)
        }
    }

    /// Generated for these tests, and not registered.
    static let clientKeyPEM = """
        -----BEGIN PRIVATE KEY-----
        MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgnjPsJ0h6cNEH1k1W
        SUfGngJfNG7dguUyBn4FSco379ShRANCAASsglS0o25tqypa2rq9SNx9iQlNK8YU
        IAdDxdoyNCA9Wq6IzUhs4BoVzF1uCms16kALWNIeC16k3QZ8N+igHjD7
        -----END PRIVATE KEY-----
        """

    private static let making = Task {
        try await SigningKey.generate(count: 3)
    }

    static func keys() async throws -> [SigningKey] {
        zip(keyIDs, try await making.value).map { SigningKey(keyID: $0, privateKey: $1.privateKey) }
    }
}
