import AppleAccounts

/// Slows down the guessing of user codes (RFC 8628 §5.1), per network, per account, and in total.
///
/// Unlike a client secret, a user code has only 34 bits, so a pause refuses right codes too: otherwise it
/// would not stop a right guess. The bound for all addresses together protects against a guesser with many
/// addresses. It would also block all users, so a browser with a session is counted only by its account: no
/// guesser can make it wait. Sign-ins at Apple bound the accounts of a guesser. At the bound of all
/// addresses, 1,000 guesses in ten minutes find one of 10,000 waiting codes with a probability of 1 in 2,560.
/// Each replica counts for itself. Does no I/O and reads no clock.
struct UserCodeGuessing: Sendable {
    /// Number of wrong codes in a window, from all addresses.
    static let mostInAll = 1000
    /// Milliseconds of the window: the lifetime of a code.
    static let window: Int64 = 600_000

    /// The subject is the account of the session; `nil` without one.
    private var pauses = AttemptPauses<AccountID?>()
    private var begunAt = Moment(milliseconds: 0)
    private var count = 0

    /// An attempt that counts as wrong until it is known to
    /// be right, so that all concurrent attempts are counted.
    struct Attempt: Sendable {
        fileprivate let counted: AttemptPauses<AccountID?>.Counted
        /// Begin of the window in which the attempt counts; `nil` with a session.
        fileprivate let windowBegan: Moment?
    }

    enum Admission: Sendable {
        case admitted(Attempt)
        /// Seconds to wait.
        case paused(Int64)
    }

    /// - Parameters:
    ///   - address: `nil` when it is unknown.
    ///   - account: The account of the browser's session; `nil` without one.
    mutating func begin(at address: RequesterAddress?, by account: AccountID?, now: Moment) -> Admission {
        let address = account == nil ? address : nil
        if let seconds = pauses.pause(for: account, at: address, now: now) { return .paused(seconds) }
        guard account == nil else {
            return .admitted(
                Attempt(counted: pauses.failed(for: account, at: nil, now: now), windowBegan: nil))
        }
        // A clock that was set back begins a new window.
        if !(0..<Self.window).contains(now.milliseconds - begunAt.milliseconds) {
            (begunAt, count) = (now, 0)
        }
        guard count < Self.mostInAll else {
            return .paused((Self.window - now.milliseconds + begunAt.milliseconds + 999) / 1000)
        }
        count += 1
        return .admitted(
            Attempt(counted: pauses.failed(for: nil, at: address, now: now), windowBegan: begunAt))
    }

    /// The code was right, or its lookup has failed.
    mutating func takeBack(_ attempt: Attempt) {
        pauses.takeBack(attempt.counted)
        if attempt.windowBegan == begunAt { count = max(0, count - 1) }
    }
}
