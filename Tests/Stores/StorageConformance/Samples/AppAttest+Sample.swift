public import AppAttestation
public import AppleAccounts
public import AuthorizationServer
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

extension DeviceAuthorization {
    /// Makes a device whose codes have the number: `device-1` and `user-1`.
    public static func sample(
        _ number: UInt64 = 1, client: OAuthClientID = "phone", scope: String = "openid offline_access",
        userCode: UInt64? = nil,
        origin: Origin = Origin(address: "203.0.113.7", userAgent: "Example TV"),
        at moment: Moment = 2_000_000
    ) -> DeviceAuthorization {
        DeviceAuthorization(
            digest: .hash("device-\(number)"), userCodeDigest: .hash("user-\(userCode ?? number)"),
            oauthClientID: client, scope: scope, origin: origin, issuedAt: moment,
            expiresAt: moment.advanced(byMilliseconds: lifetime))
    }
}

extension DecideDeviceCommand {
    /// The user agrees. A new grant has the number of the device.
    public static func agree(
        _ number: UInt64 = 1, account: AccountID, client: OAuthClientID = "phone",
        scope: String = "openid offline_access", authenticatedAt: Moment = 1_000_000,
        authenticatedAfter: Moment? = nil, at moment: Moment = 2_010_000
    ) -> DecideDeviceCommand {
        DecideDeviceCommand(
            deviceDigest: .hash("device-\(number)"), oauthClientID: client,
            approval: Approval(
                accountID: account, newGrantID: GrantID(.sample(number)), clientID: "com.example.app",
                scope: scope, authenticatedAt: authenticatedAt, authenticatedAfter: authenticatedAfter),
            moment: moment)
    }

    public static func refuse(
        _ number: UInt64 = 1, client: OAuthClientID = "phone", at moment: Moment = 2_010_000
    ) -> DecideDeviceCommand {
        DecideDeviceCommand(
            deviceDigest: .hash("device-\(number)"), oauthClientID: client, approval: nil, moment: moment)
    }
}

extension PollDeviceCommand {
    /// A poll that offers the token family of the number.
    public static func sample(
        _ number: UInt64 = 1, client: OAuthClientID = "phone", family: UInt64? = nil,
        limits: FamilyLimits = FamilyLimits(perClient: 10, perAccount: 50), at moment: Moment = 2_020_000
    ) -> PollDeviceCommand {
        PollDeviceCommand(
            RedeemCommand(
                codeDigest: .hash("device-\(number)"), oauthClientID: client,
                redirectURI: PollDeviceCommand.redirectURI, codeVerifier: nil, clientScopes: .sample,
                newFamilyID: .sample(family ?? number), isNative: true,
                refreshToken: SampleToken(family: family ?? number).new(), needsOfflineAccess: false,
                familyExpiresAt: 900_000_000, limits: limits, moment: moment))
    }
}

extension AuthorizationStore {
    @discardableResult
    public func begin(
        _ device: DeviceAuthorization, _ limits: DeviceLimits = .standard
    ) async throws -> DeviceAuthorization {
        try await carryOut(BeginDeviceCommand(device: device, limits: limits))
    }

    @discardableResult
    public func decide(_ command: DecideDeviceCommand) async throws -> GrantRecord? {
        try await carryOut(command)
    }

    @discardableResult
    public func poll(_ command: PollDeviceCommand) async throws -> IssuedTokens {
        try await carryOut(command)
    }
}
