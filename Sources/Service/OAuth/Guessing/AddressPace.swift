import AppleAccounts
public import AuthorizationServer
import Encodings

/// Bounds the requests of one address in a window of time, and those of a wide network at
/// `CountedNetwork.share` times as many. Does no I/O and reads no clock.
struct AddressPace: Sendable {
    /// Above this number, networks are forgotten, those with the fewest requests first.
    static let mostAddresses = 10_000

    /// Requests of one address in a window. Many users can share an address.
    let most: Int
    /// In milliseconds.
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
        // Begins anew when the window is over, and when the clock was set back.
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

    /// Removes a quarter of the networks, so that a full table is not sorted for each request. A network that
    /// has reached its bound is forgotten last.
    private mutating func makeRoom() {
        let fewest = requests.sorted { $0.value < $1.value }
        for (network, _) in fewest.prefix(Self.mostAddresses / 4) { requests[network] = nil }
    }
}

/// Too many requests came from an address, or registrations for an app.
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
