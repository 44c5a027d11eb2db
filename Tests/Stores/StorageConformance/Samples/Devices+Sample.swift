public import AppleAccounts
public import AuthorizationServer
import Cryptography

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
