import AppleAccounts

/// When a refresh token is validated next: by chance between a minute and an hour after its day is over, so that tokens
/// which came together do not stay together. The minute is for Apple's clock, which counts from when a question arrives.
public struct CheckSchedule: Sendable, Hashable {
    /// Milliseconds between two claims, the margin included. Apple allows one question a day and user.
    let interval: Int64
    /// Milliseconds: what an hour has beyond the margin, for a day, and as large a part of any other interval.
    let jitter: Int64

    /// - Parameter interval: A day. Less is for trying things out against the fake Apple only.
    public init(interval: Duration = .seconds(86_400)) {
        let milliseconds = max(interval.wholeMilliseconds, 1)
        let margin = milliseconds / 1440
        self.interval = milliseconds + margin
        jitter = max(milliseconds / 24 - margin, 1)
    }

    func next(after moment: Moment, using generator: inout some RandomNumberGenerator) -> Moment {
        moment.advanced(byMilliseconds: interval).advanced(
            byMilliseconds: Int64.random(in: 0..<jitter, using: &generator))
    }
}
