import AppAttestation
import AppleAccounts
public import AuthorizationServer
import Encodings

/// Bounds the number of requests from one address per time window. A wide network may send
/// `CountedNetwork.share` times as many requests. Does no I/O and reads no clock.
struct AddressPace: Sendable {
    /// Maximum number of counted networks. Above this number, the networks with the fewest requests are
    /// removed first.
    static let mostAddresses = 10_000

    /// Maximum number of requests from one address per window. Many users may share an address.
    let most: Int
    /// Window length in milliseconds.
    let window: Int64

    private var begunAt = Moment(milliseconds: 0)
    /// Number of requests per network. The `nil` key counts all requests from unknown addresses.
    private var requests: [CountedNetwork?: Int] = [:]

    init(most: Int, window: Int64) {
        (self.most, self.window) = (most, window)
    }

    var addressCount: Int { requests.count }

    /// Counts a request. Returns the seconds to wait if the request exceeds the bound; `nil` if it is
    /// admitted.
    mutating func admit(_ address: RequesterAddress?, at now: Moment) -> Int64? {
        // A new window starts when the window is over, and when the clock has been set back.
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

    /// Removes a quarter of the networks at a time, so that a full table is not sorted for each request.
    /// Networks that have reached their bound are removed last.
    private mutating func makeRoom() {
        let fewest = requests.sorted { $0.value < $1.value }
        for (network, _) in fewest.prefix(Self.mostAddresses / 4) { requests[network] = nil }
    }
}

/// Too many requests came from an address, or too many registrations for an app.
public struct RequestsPaused: Error, Sendable, Equatable {
    public enum Cause: Sendable {
        case registrations, devices
    }

    public let cause: Cause
    /// Seconds to wait; at least 1.
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

/// Bounds the rate of App Attest key registrations without an API key. Any program can send attestations.
/// Each attestation costs a verification, and a genuine attestation adds a row.
///
/// Counts requests by address and new keys by app, in windows of a minute. Does no I/O and reads no clock.
struct RegistrationPace: Sendable {
    /// Maximum number of requests from one address per window, including failed requests. Many phones may
    /// share an address.
    static let mostOfAddress = 300
    /// The maximum number of new keys per app and window. Apple recommends that an app make at most 100
    /// attestations per second.
    static let mostOfApp = 6000
    /// Window length in milliseconds.
    static let window: Int64 = 60_000

    private var addresses = AddressPace(most: Self.mostOfAddress, window: Self.window)
    private var windowBegunAt = Moment(milliseconds: 0)
    private var newKeys: [AppID: Int] = [:]

    var addressCount: Int { addresses.addressCount }

    /// Counts a request. Returns the seconds to wait if the request exceeds a bound; `nil` if it is admitted.
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

    /// Resets the counts when the window is over, and when the clock has been set back.
    private mutating func beginWindow(at now: Moment) {
        guard !(0..<Self.window).contains(now.milliseconds - windowBegunAt.milliseconds) else { return }
        windowBegunAt = now
        newKeys = [:]
    }
}
