/// Whether the clock of this machine agrees with Apple's.
struct ClockCheck: DoctorCheck {
    static let name = "clock"
    /// Seconds. From here on tokens are refused, and client secrets are, because their moments are in the future.
    static let wrong: Int64 = 50
    static let remarkable: Int64 = 10

    /// Seconds since 1970, of Apple and of this machine; `nil` when Apple has not said.
    let appleDate: Int64?
    let ownDate: Int64

    /// How far this machine is ahead.
    static func skew(appleDate: Int64?, ownDate: Int64) -> Int64? {
        guard let appleDate else { return nil }
        let (skew, overflow) = ownDate.subtractingReportingOverflow(appleDate)
        return overflow ? nil : skew
    }

    func examine() -> [Finding] {
        guard let skew = Self.skew(appleDate: appleDate, ownDate: ownDate) else {
            return [.skipped(Self.name, "Apple has not said what time it is")]
        }
        if skew.magnitude < Self.remarkable { return [.good(Self.name, "agrees with Apple's")] }
        let words = "\(skew.magnitude) s \(skew < 0 ? "behind" : "ahead of") Apple's"
        let advice = "Keep it right with chrony or systemd-timesyncd."
        if skew.magnitude < Self.wrong { return [.note(Self.name, words, advice: advice)] }
        return [
            .wrong(
                Self.name, words,
                advice: "Good tokens are refused here, or client secrets at Apple. \(advice)")
        ]
    }
}
