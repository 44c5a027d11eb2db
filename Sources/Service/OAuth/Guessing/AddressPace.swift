import AppAttestation
import AppleAccounts
public import AuthorizationServer
import Encodings

/// Bounds the requests of one address in a window of time. A wide network may send `CountedNetwork.share`
/// times as many requests. Does no I/O and reads no clock.
struct AddressPace: Sendable {
    /// Largest number of networks. Above it, networks with the fewest requests are removed first.
    static let mostAddresses = 10_000

    /// Requests of one address in a window. Many users can share an address.
    let most: Int
    /// Length of a window in milliseconds.
    let window: Int64

    private var begunAt = Moment(milliseconds: 0)
    /// `nil` stands for all requests from unknown addresses.
    private var requests: [CountedNetwork?: Int] = [:]

    init(most: Int, window: Int64) {
        (self.most, self.window) = (most, window)
    }

    var addressCount: Int { requests.count }

    /// Counts a request. Returns the seconds to wait when it must not be carried out.
    mutating func admit(_ address: RequesterAddress?, at now: Moment) -> Int64? {
        // Starts a new window after the end of the window, and after the clock was set back.
        if !(0..<window).contains(now.milliseconds - begunAt.milliseconds) {
            (begunAt, requests) = (now, [:])
        }
        let networks: [CountedNetwork?] = address?.networks ?? [nil]
        guard networks.allSatisfy({ requests[$0, default: 0] < most * ($0?.share ?? 1) }) else {
            return (begunAt.milliseconds + window - now.milliseconds + 999) / 1000
        }
        for network in networks {
            if requests[network] == nil, requests.count >= Self.mostAddresses { makeRoom() }
            requests[network, default: 0] += 1
        }
        return nil
    }

    /// Removes a quarter of the networks, so that a full table is not sorted
    /// for each request. A network that has reached its bound is removed last.
    private mutating func makeRoom() {
        let fewest = requests.sorted { $0.value < $1.value }
        for (network, _) in fewest.prefix(Self.mostAddresses / 4) { requests[network] = nil }
    }
}

/// Too many requests from an address, or too many registrations for an app.
public struct RequestsPaused: Error, Sendable, Equatable {
    public enum Cause: Sendable {
        case registrations, devices
    }

    public let cause: Cause
    /// Seconds to wait, at least 1.
    public let seconds: Int64

    public var error: TokenEndpointError {
        switch cause {
        case .registrations:
            TokenEndpointError(
                .temporarilyUnavailable,
                "Too many keys are registered from this address or for this app; try again "
                    + "after Retry-After.")
        case .devices:
            TokenEndpointError(
                .temporarilyUnavailable,
                "Too many devices begin at this address; try again after Retry-After.")
        }
    }
}

/// Bounds how fast keys of App Attest are registered without an API key: any program can send attestations, and
/// each costs a verification, and a row when it is genuine.
///
/// Requests are counted by address, and new keys by app, in windows of a minute. Does no I/O and reads no clock.
struct RegistrationPace: Sendable {
    /// Requests of one address in a window, including failed requests. Many phones can share an address.
    static let mostOfAddress = 300
    /// New keys of one app in a window. Apple asks an app for at most 100 attestations in a second.
    static let mostOfApp = 6000
    /// Length of a window in milliseconds.
    static let window: Int64 = 60_000

    private var addresses = AddressPace(most: Self.mostOfAddress, window: Self.window)
    private var windowBegunAt = Moment(milliseconds: 0)
    private var newKeys: [AppID: Int] = [:]

    var addressCount: Int { addresses.addressCount }

    /// Counts a request. Returns the seconds to wait when it must not be carried out.
    mutating func admit(_ address: RequesterAddress?, for app: AppID, at now: Moment) -> Int64? {
        beginWindow(at: now)
        guard newKeys[app, default: 0] < Self.mostOfApp else {
            return (windowBegunAt.milliseconds + Self.window - now.milliseconds + 999) / 1000
        }
        return addresses.admit(address, at: now)
    }

    mutating func registered(keyOf app: AppID, at now: Moment) {
        beginWindow(at: now)
        newKeys[app, default: 0] += 1
    }

    /// Empties the counts when the window is over, and when the clock was set back.
    private mutating func beginWindow(at now: Moment) {
        guard !(0..<Self.window).contains(now.milliseconds - windowBegunAt.milliseconds) else { return }
        windowBegunAt = now
        newKeys = [:]
    }
}
