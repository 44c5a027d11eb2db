import AppleAccounts

extension Crew.Claim {
    /// Looks again when something will be due, not sooner than in a moment, so that a due time which nobody
    /// can claim yet makes no busy loop, and not later than `longest`.
    init(work: [Work], due: Moment?, at now: Moment, atMost longest: Duration) {
        let wait = due.map { Duration.milliseconds(max($0.milliseconds - now.milliseconds, 50)) }
        self.init(work: work, nextLook: min(wait ?? longest, longest))
    }
}
