public import AppAttestation
public import AppleAccounts
import Cryptography

extension AppID {
    public static func sample(_ bundleID: String = "com.example.app") -> AppID {
        guard let app = AppID(teamID: "A1B2C3D4E5", bundleID: bundleID) else {
            preconditionFailure("not a bundle ID: \(bundleID)")
        }
        return app
    }
}

extension AttestedKeyID {
    public static func sample(_ number: Int = 1) -> AttestedKeyID {
        AttestedKeyID(SHA256Digest.hash("key \(number)"))
    }
}

extension UsedNonce {
    public static func challenge(_ number: Int, keptUntil: Moment = 90_000_000) -> UsedNonce {
        UsedNonce(digest: NonceDigest(SHA256Digest.hash("challenge \(number)")), keptUntil: keptUntil)
    }
}

extension AttestedKeyRecord {
    public static func sample(
        _ number: Int = 1, app: AppID = .sample(), environment: AttestationEnvironment = .production,
        counter: UInt32 = 0, createdAt: Moment = 1_000_000, usedAt: Moment? = nil,
        facts: AttestedAppFacts = .none
    ) -> AttestedKeyRecord {
        AttestedKeyRecord(
            id: .sample(number), appID: app, publicKey: [4] + [UInt8](repeating: 7, count: 64),
            environment: environment, counter: counter, createdAt: createdAt, usedAt: usedAt,
            facts: facts)
    }
}

extension RegisterKeyCommand {
    /// - Parameter challenge: Number of the challenge; `nil` for an expired one.
    public static func sample(
        _ key: AttestedKeyRecord = .sample(), challenge: Int?, mostKeys: Int64 = RegisterKeyCommand.mostKeys
    ) -> RegisterKeyCommand {
        RegisterKeyCommand(key: key, challenge: challenge.map { .challenge($0) }, mostKeys: mostKeys)
    }
}

extension AppProof {
    /// - Parameters:
    ///   - challenge: Number of the challenge.
    ///   - counter: `nil` for a proof that failed before.
    public static func sample(
        challenge: Int, key: AttestedKeyID = .sample(), app: AppID = .sample(), counter: UInt32?,
        facts: AttestedAppFacts = .none
    ) -> AppProof {
        AppProof(
            challenge: .challenge(challenge),
            assertion: counter.map {
                AssertedCounter(keyID: key, appID: app, counter: $0, facts: facts)
            })
    }
}

extension UseProofCommand {
    public static func sample(
        challenge: Int, key: AttestedKeyID = .sample(), app: AppID = .sample(), counter: UInt32?,
        facts: AttestedAppFacts = .none, receivedAt: Moment = 2_000_000
    ) -> UseProofCommand {
        UseProofCommand(
            proof: .sample(challenge: challenge, key: key, app: app, counter: counter, facts: facts),
            receivedAt: receivedAt)
    }
}
