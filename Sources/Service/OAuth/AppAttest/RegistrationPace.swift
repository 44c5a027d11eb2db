import AppAttestation
import AppleAccounts

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
