public import AppleAccounts
import AppleIDClient
import Commits
import Logging

/// Validates each refresh token at Apple once a day. The checks are spread over the day.
///
/// Before the call to Apple, a claim postpones the token's next check by a day, so that neither a crash nor a
/// second process causes two calls within a day. A cancelled check is made the next day. The worker keeps
/// nothing in memory about tokens that it is not checking.
///
/// A successful check needs no write. A failed check stores the time at which it became overdue, even if the
/// next attempt is on the next day, so that the reported age of overdue work is correct.
struct DailyCheck: Worker {
    static let traits = WorkerTraits(
        // A new token is first due after a day, so it sends no signal. Regular database reads also find other
        // processes' tokens.
        width: 8, longestLook: .seconds(60), failurePause: .seconds(5),
        unclaimed: "no checks could be claimed", counter: "siwa_apple_checks",
        help: "Daily checks of refresh tokens at Apple by result.")
    /// A single throttled check concerns one user, but several in a row concern the whole service.
    static let paceLimits = ApplePace.Limits(
        backoff: Backoff(first: .seconds(5), longest: .seconds(300)), throttlesInARow: 3, refusalsInARow: 1,
        clientRest: 600_000)

    enum WorkResult: String, CountedResult {
        /// `rejected` means that a credential was revoked. `ended` means that the token had already ended in
        /// this service.
        case valid, rejected, ended, unknown, throttled
        case notAsked = "not_asked"
        case refusedUs = "client_rejected"
        case unreadable = "sealed_unreadable"
        case notStored = "not_stored"
    }

    let context: WorkerContext<WorkResult>
    private let tokenContext: AppleTokenContext
    private let commits: GroupCommit<AccountCommand>
    private let apple: any AppleTokenService
    private let schedule: CheckSchedule
    private let pace: SharedPace

    /// - Parameter perSecond: Maximum call rate. A million tokens per day need 11.6 calls per second.
    init(
        tokenContext: AppleTokenContext, commits: GroupCommit<AccountCommand>, apple: any AppleTokenService,
        schedule: CheckSchedule = CheckSchedule(), perSecond: Double = 25,
        now: @escaping @Sendable () -> Moment, logger: Logger
    ) {
        context = tokenContext.workerContext(for: Self.self, now: now, logger: logger)
        self.tokenContext = tokenContext
        self.commits = commits
        self.apple = apple
        self.schedule = schedule
        pace = SharedPace(ApplePace(Self.paceLimits, perSecond: perSecond, at: now()))
    }

    var claimPace: SharedPace? { pace }

    func claim(limit: Int, at moment: Moment) async throws -> [ClaimedCheck] {
        // The claim skips paused client IDs, because otherwise the worker would have to release all of their
        // claims at once.
        let resting = pace.update { $0.resting(at: moment).clientIDs }
        return try await tokenContext.tokens.claimChecks(
            limit: limit, at: moment, nextAfter: moment.advanced(byMilliseconds: schedule.interval),
            jitterMilliseconds: schedule.jitter, except: resting)
    }

    func nextDue() async throws -> Moment? {
        let moment = now()
        let resting = pace.update { $0.resting(at: moment) }
        let due = try await tokenContext.tokens.nextCheckDue(except: resting.clientIDs)
        return [due, resting.until].compactMap { $0 }.min()
    }

    func clientID(of check: ClaimedCheck) -> String { check.clientID.rawValue }

    func logMetadata(of check: ClaimedCheck) -> Logger.Metadata {
        ["account": "\(check.accountID.rawValue)", "client_id": "\(check.clientID.rawValue)"]
    }

    func perform(_ check: ClaimedCheck) async -> WorkOutcome<WorkResult> {
        let moment = now()
        if let until = pace.update({ $0.rest(of: check.clientID, at: moment) }) {
            return release(check, until: until, as: .refusedUs)
        }
        // An unreadable token does not count as overdue, because otherwise a token whose key is lost would
        // stay overdue forever. Unreadable tokens have their own alert.
        guard let token = open(check) else { return .ended(.unreadable) }
        do {
            try await apple.validate(refreshToken: token, clientID: check.clientID.rawValue)
            pace.update { $0.reached(check.clientID) }
            return .ended(.valid)
        } catch {
            return await outcome(of: error, for: check, askedAt: moment)
        }
    }

    /// Opens a sealed token. A token that does not open stays stored, and is logged as an error every day. It
    /// opens again once the operator restores its key; if a row was changed, only this log line reports it.
    private func open(_ check: ClaimedCheck) -> String? {
        guard let sealer = tokenContext.sealer else {
            tell("no sealing key: no refresh token can be checked", of: check, level: .error)
            return nil
        }
        do {
            return try sealer.open(
                check.sealed, as: .refreshToken, of: check.accountID, clientID: check.clientID)
        } catch {
            tell("a sealed refresh token does not open", of: check, error, level: .error)
            return nil
        }
    }

    private func outcome(
        of error: AppleCallError, for check: ClaimedCheck, askedAt moment: Moment
    ) async -> WorkOutcome<WorkResult> {
        switch CheckVerdict(error) {
        case .valid:
            return .ended(.valid)
        case .rejected:
            pace.update { $0.reached(check.clientID) }
            return await reject(check, at: moment)
        case .notAsked:
            let failedAt = now()
            let until = pace.update { pace in
                var generator = SystemRandomNumberGenerator()
                return pace.missed(at: failedAt, using: &generator)
            }
            // The random spread prevents all checks from running in the first second after the pause.
            let spread = Int64.random(in: 0..<min(30_000, schedule.jitter))
            return release(check, until: until.advanced(byMilliseconds: spread), as: .notAsked)
        case .throttled:
            let failedAt = now()
            pace.update { pace in
                var generator = SystemRandomNumberGenerator()
                // The time that Apple requests applies only to this token.
                pace.throttled(at: failedAt, retryAfter: nil, using: &generator)
            }
            tell("Apple throttles the daily check", of: check, error, level: .error)
            return release(check, until: nil, as: .throttled)
        case .refusedUs:
            tell("Apple cannot be asked for this client ID", of: check, error, level: .error)
            let failedAt = now()
            let until = pace.update { $0.refused(check.clientID, at: failedAt) }
            return release(check, until: until, as: .refusedUs)
        case .unknown:
            tell("a daily check brought no response", of: check, error, level: .error)
            return release(check, until: nil, as: .unknown)
        }
    }

    private func reject(_ check: ClaimedCheck, at moment: Moment) async -> WorkOutcome<WorkResult> {
        let command = RejectionCommand(
            key: check.key, accountID: check.accountID, clientID: check.clientID,
            primaryClientID: check.primaryClientID, tokenID: check.tokenID, moment: moment)
        do {
            let receipt = try await StorageRetry(clock: context.clock).run {
                try await commits.submit(command)
            }
            switch receipt {
            case .revoked: return .ended(.rejected)
            case .dropped, .ignored: return .ended(.ended)
            }
        } catch is AccountRefusal {
            // The account was erased or transferred during the check, so no token remains to revoke.
            return .ended(.ended)
        } catch {
            // The check is not repeated soon, because Apple will give the same response tomorrow.
            tell("a refused refresh token was not stored", of: check, error, level: .error)
            return release(check, until: nil, as: .notStored)
        }
    }

    /// Records that the check did not succeed. Without this write, the token waits for its next regular
    /// check.
    ///
    /// - Parameter moment: Time of the next attempt; `nil` for the next day, even if the interval is longer.
    private func release(
        _ check: ClaimedCheck, until moment: Moment?, as result: WorkResult
    ) -> WorkOutcome<WorkResult> {
        .ends(
            result,
            with: ClaimEnd(unstored: "a check was not released") {
                try await tokenContext.tokens.releaseCheck(
                    check, until: moment ?? schedule.nextDay(after: now()))
            })
    }
}

/// A daily check's conclusion from the result of a call to Apple. Does no I/O.
///
/// Apple allows one call per token per day. A call that may have counted is not repeated before the token's
/// next check, which the claim has already scheduled. Only `rejected` is evidence about the user.
enum CheckVerdict: Equatable {
    case valid
    /// Apple responded with `invalid_grant`: the user withdrew consent, changed the password, or the token
    /// ended for another reason.
    case rejected
    /// Apple certainly received no call. Calls for other tokens would fail in the same way.
    case notAsked
    /// Apple throttled the call. The call may have counted.
    case throttled
    /// The configuration is wrong for all tokens of this client ID. The response proves nothing about this
    /// token.
    case refusedUs
    /// The call was made, but its response is unusable.
    case unknown

    init(_ error: AppleCallError) {
        self =
            switch error.code {
            case .unreachable, .circuitOpen: .notAsked
            case .throttled: .throttled
            case .noSigningKey, .signingFailed: .refusedUs
            case .timedOut, .connectionLost, .responseUnusable, .serverFailed: .unknown
            case .rejected:
                switch error.appleError {
                case .invalidGrant: .rejected
                case .invalidClient, .unauthorizedClient: .refusedUs
                case .invalidRequest, .unsupportedGrantType, .invalidScope, .other, nil: .unknown
                }
            }
    }
}

/// Schedules a refresh token's next validation at a random time, between a minute and an hour after the end
/// of its day, so that tokens that were issued together are not checked together. The minute is a safety
/// margin, because Apple's clock counts from the arrival of a call.
public struct CheckSchedule: Sendable, Hashable {
    /// Time between two claims in milliseconds, including the margin. Apple allows one call per user per day.
    let interval: Int64
    /// Maximum random delay in milliseconds. For an interval of a day it is an hour minus the margin, and for
    /// other intervals the same fraction of the interval.
    let jitter: Int64

    /// - Parameter interval: The interval between checks: a day. Only the fake Apple allows shorter
    ///   intervals.
    public init(interval: Duration = .seconds(86_400)) {
        let milliseconds = max(interval.wholeMilliseconds, 1)
        let margin = milliseconds / 1440
        self.interval = milliseconds + margin
        jitter = max(milliseconds / 24 - margin, 1)
    }

    /// Returns the range of times at which the previous check may have been due.
    public func previous(before next: Moment) -> ClosedRange<Moment> {
        let last = next.advanced(byMilliseconds: -interval)
        return last.advanced(byMilliseconds: -jitter)...last
    }

    /// Returns the time of the next attempt after a failed check. Returns `nil` if the interval is at most a
    /// day, because the claim has then already set the time.
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
