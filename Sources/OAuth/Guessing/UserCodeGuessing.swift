import AppleAccounts

/// Slows the guessing of user codes down (RFC 8628 §5.1), per address and in all.
///
/// Other than a client's secret, a user code has only 34 bits, so that during a pause a right code is refused
/// too: otherwise a pause would stop nobody who is right. The bound for all addresses together holds against a
/// guesser with many of them. At it, 1,000 guesses in ten minutes find one of 10,000 waiting codes with a
/// probability of 1 in 2,560. Each replica counts for itself. Does no I/O and reads no clock.
struct UserCodeGuessing: Sendable {
    /// Number of wrong codes in a window, from all addresses.
    static let mostInAll = 1000
    /// Milliseconds of the window: the lifetime of a code.
    static let window: Int64 = 600_000

    /// `nil` stands for all requests from unknown addresses.
    private var pauses = AttemptPauses<RequesterAddress?>()
    private var begunAt = Moment(milliseconds: 0)
    private var count = 0

    /// An attempt that counts as wrong until it is known to be right, so that many attempts at once are all
    /// counted.
    struct Attempt: Sendable {
        fileprivate let address: RequesterAddress?
        fileprivate let counted:
            (before: AttemptPauses<RequesterAddress?>.Record?, after: AttemptPauses<RequesterAddress?>.Record)
        fileprivate let windowBegan: Moment
    }

    enum Admission: Sendable {
        case admitted(Attempt)
        /// Seconds to wait.
        case paused(Int64)
    }

    mutating func begin(at address: RequesterAddress?, now: Moment) -> Admission {
        if let seconds = pauses.pause(for: address, now: now) { return .paused(seconds) }
        // A clock that was set back begins a new window.
        if !(0..<Self.window).contains(now.milliseconds - begunAt.milliseconds) {
            (begunAt, count) = (now, 0)
        }
        guard count < Self.mostInAll else {
            return .paused((Self.window - now.milliseconds + begunAt.milliseconds + 999) / 1000)
        }
        count += 1
        return .admitted(
            Attempt(address: address, counted: pauses.failed(for: address, now: now), windowBegan: begunAt))
    }

    /// The code was right, or its lookup has failed.
    mutating func takeBack(_ attempt: Attempt) {
        pauses.takeBack(attempt.counted, for: attempt.address)
        if attempt.windowBegan == begunAt { count = max(0, count - 1) }
    }
}
