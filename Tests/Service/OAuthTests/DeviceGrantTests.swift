import AppAttestation
import AppleAccounts
import AuthorizationServer
import Commits
import Logging
import OAuthSamples
import SignIn
import StorageConformance
import StrictJSON
import TestSupport
import Testing
import TokenMint

@testable import OAuth

/// The device grant (RFC 8628) over a store in memory.
@Suite struct DeviceGrantTests {
    private static let grantType = "urn:ietf:params:oauth:grant-type:device_code"

    private func world(_ change: (inout ClientDraft) -> Void = { _ in }) throws -> OAuthWorld {
        try OAuthWorld { draft in
            draft.clients[1].allowsDeviceGrant = true
            change(&draft.clients[1])
        }
    }

    private struct Codes {
        let device: String
        let user: UserCode
    }

    private func begin(_ world: OAuthWorld) async throws -> Codes {
        let client = try world.client("desktop")
        let response = try await DeviceRequests(world.server).begin(client, client.scopes, from: .unknown)
        var writer = JSONWriter(reservingCapacity: 512)
        response.write(into: &writer)
        let json = try JSONValue(parsing: writer.bytes)
        let shown = try #require(json["user_code"]?.string)
        #expect(shown.count == 9)
        #expect(json["verification_uri"]?.string == "\(OAuthSample.issuer)/oauth/device")
        #expect(
            json["verification_uri_complete"]?.string
                == "\(OAuthSample.issuer)/oauth/device?user_code=\(shown)")
        #expect(json["expires_in"]?.integer == 600 && json["interval"]?.integer == 5)
        #expect(!"\(response)".contains(shown) && !String(reflecting: response).contains(shown))
        return Codes(
            device: try #require(json["device_code"]?.string), user: try #require(UserCode(entered: shown)))
    }

    private func poll(_ world: OAuthWorld, _ code: String, as client: String = "desktop") async throws
        -> TokenResponse
    { try await world.tokens(["grant_type": Self.grantType, "device_code": code], as: client) }

    private func decide(
        _ world: OAuthWorld, _ codes: Codes, _ account: Account?, scope: String = "openid email"
    ) async throws {
        let client = try world.client("desktop")
        let digest = try #require(DeviceCodeText(parsing: codes.device)).digest
        var generator = SystemRandomNumberGenerator()
        let approval = account.map { account in
            DecideDeviceCommand.Approval(
                accountID: account.id, newGrantID: GrantID(UniqueID(at: world.now, using: &generator)),
                clientID: client.app, scope: scope,
                authenticatedAt: Moment(seconds: TokenMint.sampleTime), authenticatedAfter: nil)
        }
        _ = try await world.server.dependencies.commits.submit(
            DecideDeviceCommand(
                deviceDigest: digest, oauthClientID: client.id, approval: approval, moment: world.now))
    }

    private func refusal(_ action: () async throws -> some Any) async -> (
        OAuthError.Code?, TokenRefusalReason?
    ) {
        do {
            _ = try await action()
            return (nil, nil)
        } catch {
            let error = (error as? OAuthError) ?? (error as? TokenEndpointError)?.error
            return (error?.code, error?.reason)
        }
    }

    @Test func `a device gets what a code would give, once a user has agreed`() async throws {
        let world = try world()
        let account = try await world.user()
        let codes = try await begin(world)
        #expect(
            await refusal { try await poll(world, codes.device) } == (
                .authorizationPending, .authorizationPending
            ))
        #expect(await refusal { try await poll(world, codes.device) } == (.slowDown, .slowDown))
        try await decide(world, codes, account)
        let tokens = try await poll(world, codes.device)
        #expect(tokens.scope == "openid email")
        #expect(tokens.refreshToken != nil)
        let claims = try OAuthWorld.claims(try #require(tokens.idToken))
        #expect(claims["sub"]?.string == account.id.rawValue && claims["nonce"] == nil)
        #expect(try await world.isActive(tokens.accessToken))
        #expect(await refusal { try await poll(world, codes.device) } == (.invalidGrant, .codeRetried))
        world.clock.advance(by: .seconds(11))
        #expect(await refusal { try await poll(world, codes.device) } == (.invalidGrant, .codeUsed))
        #expect(try await !world.isActive(tokens.accessToken))
    }

    @Test func `each refusal has the word of the standard`() async throws {
        let world = try world()
        let (denied, late) = (try await begin(world), try await begin(world))
        try await decide(world, denied, nil)
        #expect(await refusal { try await poll(world, denied.device) } == (.accessDenied, .consentRefused))
        world.clock.advance(by: .seconds(600))
        #expect(await refusal { try await poll(world, late.device) } == (.expiredToken, .deviceCodeExpired))
        for code in ["x", "siwa_dc_" + String(repeating: "A", count: 43)] {
            #expect(await refusal { try await poll(world, code) } == (.invalidGrant, .deviceCodeUnknown))
        }
        #expect(
            await refusal { try await poll(world, late.device, as: "shop") }
                == (.unauthorizedClient, .grantTypeNotAllowed))
    }

    @Test func `a client that lost the grant type gets nothing for a consent`() async throws {
        let world = try world()
        let codes = try await begin(world)
        try await decide(world, codes, try await world.user())
        let later = try OAuthWorld(after: world)
        #expect(
            await refusal { try await poll(later, codes.device) }
                == (.unauthorizedClient, .grantTypeNotAllowed))
    }

    @Test func `a device code is no authorization code, and the other way round`() async throws {
        let world = try world { $0.redirectURIs = [OAuthSample.desktopURI] }
        let account = try await world.user()
        let codes = try await begin(world)
        try await decide(world, codes, account)
        let found = await refusal {
            try await world.redeem(
                codes.device, as: "desktop", uri: PollDeviceCommand.redirectURI, verifier: nil)
        }
        #expect(found.0 == .invalidGrant)
        let code = try await world.code(
            for: account.id, client: "desktop", uri: OAuthSample.desktopURI, scope: "openid")
        #expect(await refusal { try await poll(world, code) } == (.invalidGrant, .deviceCodeUnknown))
        _ = try await poll(world, codes.device)
    }

    @Test func `a device past the families of an hour is told when to poll for its tokens`() async throws {
        let world = try world()
        let account = try await world.user()
        for number in 1...UInt64(GrantPace.mostFamilies) {
            try await world.store.authorize(
                .sample(number, account: account.id, client: "desktop", at: world.now))
            try await world.store.redeem(.sample(number, client: "desktop", expiresAt: .last, at: world.now))
        }
        world.clock.advance(by: .seconds(3590))
        let codes = try await begin(world)
        try await decide(world, codes, account)
        let refused = await #expect(throws: OAuthError.self) { _ = try await poll(world, codes.device) }
        #expect(refused?.code == .temporarilyUnavailable && refused?.reason == .familyLimitReached)
        #expect(refused?.retryAfter == 10)
        world.clock.advance(by: .seconds(10))
        _ = try await poll(world, codes.device)
    }

    @Test func `at the ceiling a request is refused with a stable error`() async throws {
        let world = try world()
        for _ in 0..<DeviceLimits.standard.perClient { _ = try await begin(world) }
        #expect(await refusal { try await begin(world) } == (.temporarilyUnavailable, .limitReached))
        let refused = await #expect(throws: OAuthError.self) { _ = try await begin(world) }
        #expect(refused?.retryAfter == 60)
        world.clock.advance(by: .seconds(721))
        await OAuthMaintenance(server: world.server, logger: .silent).purgeGrants()
        _ = try await begin(world)
    }

    @Test func `ten thousand guesses of one address look up a few codes`() throws {
        var guessing = UserCodeGuessing()
        let address = RequesterAddress(network: 7, isVersion4: true)
        var (now, admitted) = (Moment(seconds: 1_800_000_000), 0)
        // Twenty guesses a second, for ten minutes less a little.
        for _ in 0..<10_000 {
            if case .admitted = guessing.begin(at: address, by: nil, now: now) { admitted += 1 }
            now = now.advanced(byMilliseconds: 59)
        }
        #expect(admitted == 24, "\(admitted)")
    }

    @Test func `the networks of one home line look up a few codes, and an account has its own`() throws {
        var guessing = UserCodeGuessing()
        let now = Moment(seconds: 1_800_000_000)
        var admitted = 0
        for number in 0..<65_536 as Range<UInt64> {
            let address = RequesterAddress(network: 0x2001_0DB8_0001_0000 + number, isVersion4: false)
            if case .admitted = guessing.begin(at: address, by: nil, now: now) { admitted += 1 }
        }
        #expect(admitted == 40)
        let account = try #require(AccountID("acc_0197f0c4-0000-7000-8000-000000000001"))
        let address = RequesterAddress(network: 0x2001_0DB8_0001_0000, isVersion4: false)
        var own = 0
        for _ in 0..<20 {
            if case .admitted = guessing.begin(at: address, by: account, now: now) { own += 1 }
        }
        #expect(own == 10)
    }

    @Test func `a million addresses together look up a thousand codes in ten minutes`() {
        var guessing = UserCodeGuessing()
        var (now, admitted) = (Moment(seconds: 1_800_000_000), 0)
        for number in 0..<50_000 as Range<UInt64> {
            let address = RequesterAddress(network: number, isVersion4: true)
            if case .admitted = guessing.begin(at: address, by: nil, now: now) { admitted += 1 }
            now = now.advanced(byMilliseconds: 10)
        }
        #expect(admitted == UserCodeGuessing.mostInAll)
        guard case .paused(let seconds) = guessing.begin(at: nil, by: nil, now: now) else {
            Issue.record("a guess was admitted")
            return
        }
        #expect(seconds == 100)
        guard
            case .admitted = guessing.begin(
                at: nil, by: nil, now: now.advanced(byMilliseconds: seconds * 1000))
        else {
            Issue.record("the next window admits none")
            return
        }
    }

    @Test func `right codes do not count, and do not end the pause of a guesser at the same address`() {
        var guessing = UserCodeGuessing()
        let now = Moment(seconds: 1_800_000_000)
        for _ in 0..<5000 {
            guard case .admitted(let attempt) = guessing.begin(at: nil, by: nil, now: now) else {
                Issue.record("a right code was refused")
                return
            }
            guessing.takeBack(attempt)
        }
        guard case .admitted(let right) = guessing.begin(at: nil, by: nil, now: now) else { return }
        for _ in 0..<9 { _ = guessing.begin(at: nil, by: nil, now: now) }
        guard case .paused = guessing.begin(at: nil, by: nil, now: now) else {
            Issue.record("ten attempts at once were no pause")
            return
        }
        guessing.takeBack(right)
        guard case .paused = guessing.begin(at: nil, by: nil, now: now) else {
            Issue.record("a right code ended the pause")
            return
        }
    }
}

/// The bounds on keys of App Attest that are registered without an API key.
@Suite struct RegistrationPaceTests {
    private static let start = Moment(milliseconds: 1_000_000_000)
    private let app: AppID
    private let other: AppID

    init() throws {
        app = try #require(AppID(teamID: "A1B2C3D4E5", bundleID: "com.example.app"))
        other = try #require(AppID(teamID: "A1B2C3D4E5", bundleID: "com.example.other"))
    }

    private func address(_ number: Int) -> RequesterAddress {
        RequesterAddress(network: UInt64(number), isVersion4: true)
    }

    @Test(arguments: [1, nil]) func `an address has its requests, and then waits for the end of the minute`(
        number: Int?
    ) {
        var pace = RegistrationPace()
        let address = number.map(address)
        for _ in 0..<RegistrationPace.mostOfAddress {
            #expect(pace.admit(address, for: app, at: Self.start) == nil)
        }
        #expect(pace.admit(address, for: app, at: Self.start) == 60)
        #expect(pace.admit(address, for: other, at: Self.start) == 60)
        #expect(pace.admit(self.address(2), for: app, at: Self.start) == nil)
        let late = Self.start.advanced(byMilliseconds: 59_999)
        #expect(pace.admit(address, for: app, at: late) == 1)
        #expect(pace.admit(address, for: app, at: Self.start.advanced(byMilliseconds: 60_000)) == nil)
    }

    @Test func `an app has its new keys in a minute, from any number of addresses`() {
        var pace = RegistrationPace()
        for number in 0..<RegistrationPace.mostOfApp {
            #expect(pace.admit(address(number), for: app, at: Self.start) == nil)
            pace.registered(keyOf: app, at: Self.start)
        }
        #expect(pace.admit(address(69_999), for: app, at: Self.start) == 60)
        #expect(pace.admit(address(70_000), for: other, at: Self.start) == nil)
        #expect(pace.admit(address(70_000), for: app, at: Self.start.advanced(byMilliseconds: 60_000)) == nil)
    }

    @Test func `a flood from many addresses fills a bounded table, and frees no address that has to wait`() {
        var pace = RegistrationPace()
        for _ in 0..<RegistrationPace.mostOfAddress {
            #expect(pace.admit(address(1), for: app, at: Self.start) == nil)
        }
        var (refused, most) = (0, 0)
        for number in 2..<25_000 {
            if pace.admit(address(number), for: app, at: Self.start) != nil { refused += 1 }
            most = max(most, pace.addressCount)
        }
        #expect(refused == 0)
        #expect(most == AddressPace.mostAddresses)
        #expect(pace.admit(address(1), for: app, at: Self.start) == 60)
    }

    @Test func `a clock that is set back begins another minute`() {
        var pace = RegistrationPace()
        for _ in 0..<RegistrationPace.mostOfAddress { _ = pace.admit(address(1), for: app, at: Self.start) }
        #expect(pace.admit(address(1), for: app, at: Self.start.advanced(byMilliseconds: -1)) == nil)
    }
}

/// The bound on requests of one address, and on devices that one address begins.
@Suite struct AddressPaceTests {
    private static let start = Moment(milliseconds: 1_000_000_000)

    private func address(_ number: Int) -> RequesterAddress {
        RequesterAddress(network: UInt64(number), isVersion4: true)
    }

    @Test func `an address has its requests in a window, and others have theirs`() {
        var pace = AddressPace(most: 3, window: 600_000)
        for _ in 0..<3 { #expect(pace.admit(address(1), at: Self.start) == nil) }
        #expect(pace.admit(address(1), at: Self.start.advanced(byMilliseconds: 1)) == 600)
        #expect(pace.admit(address(2), at: Self.start) == nil)
        #expect(pace.admit(address(1), at: Self.start.advanced(byMilliseconds: 599_999)) == 1)
        #expect(pace.admit(address(1), at: Self.start.advanced(byMilliseconds: 600_000)) == nil)
        // A clock that was set back.
        #expect(pace.admit(address(1), at: Moment(milliseconds: 5)) == nil)
    }

    @Test func `the addresses of one home line have a bound together, and leave places of a client`() {
        var pace = AddressPace(most: DeviceRequests.mostOfAddress, window: 600_000)
        var (admitted, wide) = (0, 0)
        for number in 0..<256 as Range<UInt64> {
            for _ in 0..<10 {
                let address = RequesterAddress(network: 0x2001_0DB8_0001_0200 + number, isVersion4: false)
                if pace.admit(address, at: Self.start) == nil { admitted += 1 }
            }
        }
        #expect(admitted == 100)
        for number in 0..<65_536 as Range<UInt64> {
            let address = RequesterAddress(network: 0x2001_0DB8_0001_0000 + number, isVersion4: false)
            if pace.admit(address, at: Self.start) == nil { wide += 1 }
        }
        #expect(admitted + wide == 200 && DeviceLimits.standard.perClient == 1000)
        #expect(
            pace.admit(RequesterAddress(network: 0x2001_0DB8_0002_0000, isVersion4: false), at: Self.start)
                == nil)
    }

    @Test func `one address cannot fill the places of a client`() throws {
        let world = try OAuthWorld { $0.clients[1].allowsDeviceGrant = true }
        let client = try world.client("desktop")
        #expect(!client.kind.isConfidential)
        let devices = DeviceRequests(world.server)
        for _ in 0..<DeviceRequests.mostOfAddress { try devices.admit(client, from: address(1)) }
        #expect(throws: RequestsPaused(cause: .devices, seconds: 600)) {
            try devices.admit(client, from: address(1))
        }
        try devices.admit(client, from: address(2))
        // The bound of the table is left for these.
        for _ in 0...DeviceRequests.mostOfAddress { try devices.admit(client, from: nil) }
        world.clock.advance(by: .seconds(600))
        try devices.admit(client, from: address(1))
    }
}
