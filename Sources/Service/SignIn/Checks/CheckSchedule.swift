public import AppleAccounts

/// Chooses the next validation of a refresh token: at a random time between a minute and an hour after its
/// day is over, so that tokens which were issued together are not checked together. The minute is for Apple's
/// clock, which counts from the arrival of the call.
public struct CheckSchedule: Sendable, Hashable {
    /// Milliseconds between two claims, with the margin. Apple allows one call a day for each user.
    let interval: Int64
    /// Milliseconds of the random part. For a day they are an hour without the margin, and the same fraction
    /// of any other interval.
    let jitter: Int64

    /// - Parameter interval: A day. Shorter intervals are for the fake Apple only.
    public init(interval: Duration = .seconds(86_400)) {
        let milliseconds = max(interval.wholeMilliseconds, 1)
        let margin = milliseconds / 1440
        self.interval = milliseconds + margin
        jitter = max(milliseconds / 24 - margin, 1)
    }

    /// Returns the time in which the check before the next one was due.
    public func previous(before next: Moment) -> ClosedRange<Moment> {
        let last = next.advanced(byMilliseconds: -interval)
        return last.advanced(byMilliseconds: -jitter)...last
    }

    /// Returns the time of the next attempt of a check that has failed; `nil` where the interval is no longer than
    /// a day, so that the time of the claim holds.
    func nextDay(after moment: Moment) -> Moment? {
        let day = CheckSchedule()
        guard interval > day.interval else { return nil }
        var generator = SystemRandomNumberGenerator()
        return day.next(after: moment, using: &generator)
    }

    func next(after moment: Moment, using generator: inout some RandomNumberGenerator) -> Moment {
        moment.advanced(byMilliseconds: interval).advanced(
            byMilliseconds: Int64.random(in: 0..<jitter, using: &generator))
    }
}
