import AppAttestation
import AppleAccounts
public import AuthorizationServer

/// Bounds how fast keys of App Attest are registered without an API key: any program can send attestations, and
/// each costs a verification, and a row when it is genuine.
///
/// Requests are counted by address, and new keys by app, in windows of a minute. Does no I/O and reads no clock.
struct RegistrationPace: Sendable {
    /// Requests of one address in a window, also those that fail. Many phones can share an address.
    static let mostOfAddress = 300
    /// New keys of one app in a window. Apple asks an app for at most 100 attestations in a second.
    static let mostOfApp = 6000
    /// In milliseconds.
    static let window: Int64 = 60_000
    /// Above this number, addresses are forgotten, those with the fewest requests first.
    static let mostAddresses = 10_000

    private var windowBegunAt = Moment(milliseconds: 0)
    /// `nil` stands for all requests from unknown addresses.
    private var requests: [RequesterAddress?: Int] = [:]
    private var newKeys: [AppID: Int] = [:]

    var addressCount: Int { requests.count }

    /// Counts a request. Returns the seconds to wait when it must not be carried out.
    mutating func admit(_ address: RequesterAddress?, for app: AppID, at now: Moment) -> Int64? {
        beginWindow(at: now)
        let count = requests[address, default: 0]
        guard count < Self.mostOfAddress, newKeys[app, default: 0] < Self.mostOfApp else {
            return (windowBegunAt.milliseconds + Self.window - now.milliseconds + 999) / 1000
        }
        if count == 0, requests.count >= Self.mostAddresses { makeRoom() }
        requests[address] = count + 1
        return nil
    }

    mutating func registered(keyOf app: AppID, at now: Moment) {
        beginWindow(at: now)
        newKeys[app, default: 0] += 1
    }

    /// Empties the counts when the window is over, and when the clock was set back.
    private mutating func beginWindow(at now: Moment) {
        guard !(0..<Self.window).contains(now.milliseconds - windowBegunAt.milliseconds) else { return }
        windowBegunAt = now
        requests = [:]
        newKeys = [:]
    }

    /// Removes a quarter of the addresses, so that a full table is not sorted for each request. An address that
    /// has reached its bound is forgotten last.
    private mutating func makeRoom() {
        let fewest = requests.sorted { $0.value < $1.value }
        for (address, _) in fewest.prefix(Self.mostAddresses / 4) { requests[address] = nil }
    }
}

/// Too many keys of App Attest were registered from an address, or for an app.
public struct RegistrationPaused: Error, Sendable, Equatable {
    /// Seconds to wait, at least 1.
    public let seconds: Int64

    public var error: TokenEndpointError {
        TokenEndpointError(
            .temporarilyUnavailable,
            "Too many keys are registered from this address or for this app; try again "
                + "after Retry-After.")
    }
}
