import AppleEmulator

/// Three keys, made once for the whole run.
enum TestKeys {
    static let keyIDs = ["pggnQeNCOU", "86D88Kf", "YuyXoY"]

    private static let making = Task {
        try await SigningKey.generate(count: 3)
    }

    static func keys() async throws -> [SigningKey] {
        zip(keyIDs, try await making.value).map { SigningKey(keyID: $0, privateKey: $1.privateKey) }
    }
}
