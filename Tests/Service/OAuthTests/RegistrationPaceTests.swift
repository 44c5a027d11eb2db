import AppAttestation
import AppleAccounts
import AuthorizationServer
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
