import AppAttestation
import AppleAccounts
import AuthorizationServer
import OAuthSamples
import TestSupport
import Testing

@testable import OAuth

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
        for number in 2..<50_000 {
            #expect(pace.admit(address(number), for: app, at: Self.start) == nil)
            #expect(pace.addressCount <= AddressPace.mostAddresses)
        }
        #expect(pace.admit(address(1), for: app, at: Self.start) == 60)
    }

    @Test func `a clock that is set back begins another minute`() {
        var pace = RegistrationPace()
        for _ in 0..<RegistrationPace.mostOfAddress {
            _ = pace.admit(address(1), for: app, at: Self.start)
        }
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
