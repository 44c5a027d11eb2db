import AppleAccounts

/// When a refresh token is validated next: a day and a minute later, and by chance up to an hour more, so that tokens
/// which came together do not stay together. The minute is for Apple's clock, which counts from when a question arrives.
public struct CheckSchedule: Sendable, Hashable {
    /// Milliseconds between two claims, the margin included. Apple allows one question a day and user.
    let interval: Int64
    /// Milliseconds: an hour for a day, and as large a part of any other interval.
    let jitter: Int64

    /// - Parameter interval: A day. Less is for trying things out against the fake Apple only.
    public init(interval: Duration = .seconds(86_400)) {
        let milliseconds = max(interval.wholeMilliseconds, 1)
        self.interval = milliseconds + milliseconds / 1440
        jitter = max(milliseconds / 24, 1)
    }

    func next(after moment: Moment, using generator: inout some RandomNumberGenerator) -> Moment {
        moment.advanced(byMilliseconds: interval).advanced(
            byMilliseconds: Int64.random(in: 0..<jitter, using: &generator))
    }
}
