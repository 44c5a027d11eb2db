import AppleAccounts

/// Slows down the guessing of user codes (RFC 8628 §5.1) per network, per account, and in total.
///
/// Unlike a client secret, a user code has only 34 bits, so a pause must refuse correct codes too. The total
/// bound across all addresses protects against an attacker with many addresses. An attacker could exhaust the
/// total bound to block all users, so browsers with a session count only towards their account, and no
/// attacker can block them. Sign-ins at Apple limit how many accounts an attacker has. With the total bound
/// of 1,000 attempts in ten minutes, an attacker finds one of 10,000 waiting codes with a probability of 1 in
/// 2,560. Each replica counts separately. Does no I/O and reads no clock.
struct UserCodeGuessing: Sendable {
    /// Maximum number of wrong codes per window, across all addresses.
    static let mostInAll = 1000
    /// Window length in milliseconds: the lifetime of a code.
    static let window: Int64 = 600_000

    /// Pauses by the session's account; the subject is `nil` if there is no session.
    private var pauses = AttemptPauses<AccountID?>()
    private var begunAt = Moment(milliseconds: 0)
    private var count = 0

    /// A counted attempt. It counts as wrong until its code turns out to be correct, so that all concurrent
    /// attempts are counted.
    struct Attempt: Sendable {
        fileprivate let counted: AttemptPauses<AccountID?>.Counted
        /// Start of the window in which the attempt counts; `nil` for an attempt with a session.
        fileprivate let windowBegan: Moment?
    }

    enum Admission: Sendable {
        case admitted(Attempt)
        /// The attempt is refused for this many seconds.
        case paused(Int64)
    }

    /// - Parameters:
    ///   - address: The request's address; `nil` if it is unknown.
    ///   - account: The account of the browser session; `nil` if there is no session.
    mutating func begin(at address: RequesterAddress?, by account: AccountID?, now: Moment) -> Admission {
        let address = account == nil ? address : nil
        if let seconds = pauses.pause(for: account, at: address, now: now) { return .paused(seconds) }
        guard account == nil else {
            return .admitted(
                Attempt(counted: pauses.failed(for: account, at: nil, now: now), windowBegan: nil))
        }
        // A clock that was set back starts a new window.
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

    /// Removes an attempt from the counts, because its code was correct or its lookup failed.
    mutating func takeBack(_ attempt: Attempt) {
        pauses.takeBack(attempt.counted)
        if attempt.windowBegan == begunAt { count = max(0, count - 1) }
    }
}
