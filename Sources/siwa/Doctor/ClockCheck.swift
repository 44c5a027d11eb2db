import HTTPAPI

/// Checks that the clock of this machine agrees with Apple's.
struct ClockCheck: DoctorCheck {
    static let name = "clock"
    /// Seconds of difference, ten before tokens or client secrets are refused because their times are in the
    /// future.
    static let wrong = ServiceWarnings.wrongClock
    static let remarkable: Int64 = 10

    /// Apple's time in seconds since 1970; `nil` when unknown.
    let appleDate: Int64?
    let ownDate: Int64

    /// Seconds by which this machine's clock is ahead.
    static func skew(appleDate: Int64?, ownDate: Int64) -> Int64? {
        guard let appleDate else { return nil }
        let (skew, overflow) = ownDate.subtractingReportingOverflow(appleDate)
        return overflow ? nil : skew
    }

    func run() -> [Finding] {
        guard let skew = Self.skew(appleDate: appleDate, ownDate: ownDate) else {
            return [.skipped(Self.name, "Apple's time is not known")]
        }
        if skew.magnitude < Self.remarkable { return [.good(Self.name, "agrees with Apple's")] }
        let words = "\(skew.magnitude) s \(skew < 0 ? "behind" : "ahead of") Apple's"
        let advice = "Keep it right with chrony or systemd-timesyncd."
        if skew.magnitude < Self.wrong { return [.note(Self.name, words, advice: advice)] }
        return [
            .wrong(
                Self.name, words,
                advice: "Beyond \(ServiceWarnings.refusingClock) s "
                    + (skew < 0
                        ? "this service refuses new tokens and notifications of Apple. "
                        : "Apple refuses the client secrets. ") + advice)
        ]
    }
}
