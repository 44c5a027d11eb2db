public import AppleAccounts
public import AppleIDClient
public import Commits
public import Logging
public import ServiceLifecycle
import Synchronization

/// Validates every refresh token at Apple once a day, spread over the day.
///
/// A claim moves the token's next check a day ahead before Apple is called, so that neither a crash nor a
/// second process causes two calls in a day. A check that is cut off is made the next day. Nothing is kept in
/// memory for a token that is not being checked.
public final class DailyCheck: Service {
    /// Longest time between two looks. A new token is due after a day, so no signal is sent for it. Tokens of
    /// other processes are found by looking.
    static let longestLook = Duration.seconds(60)

    private struct State {
        var pace: CheckPace
    }

    private let grantContext: AppleGrantContext
    private let commits: GroupCommit<AccountCommand>
    private let apple: any AppleTokenService
    private let schedule: CheckSchedule
    private let width: Int
    private let clock: any Clock<Duration>
    private let now: @Sendable () -> Moment
    private let log: ThrottledLog
    private let metrics = CheckMetrics()
    private let state: Mutex<State>

    /// - Parameters:
    ///   - perSecond: The largest rate of calls. A million tokens in a day need 11.6 calls a second.
    ///   - width: Number of calls at once.
    public init(
        grantContext: AppleGrantContext, commits: GroupCommit<AccountCommand>, apple: any AppleTokenService,
        schedule: CheckSchedule = CheckSchedule(), perSecond: Double = 25, width: Int = 8,
        now: @escaping @Sendable () -> Moment, logger: Logger
    ) {
        self.grantContext = grantContext
        self.commits = commits
        self.apple = apple
        self.schedule = schedule
        self.width = width
        clock = grantContext.clock
        self.now = now
        log = ThrottledLog(logger)
        state = Mutex(State(pace: CheckPace(perSecond: perSecond, at: now())))
    }

    public func run() async throws {
        await WorkerPool(width: width, signal: grantContext.signals.check, clock: clock).run(
            claim: claim, perform: perform)
    }

    func claim(_ limit: Int) async -> WorkerPool<ClaimedCheck>.Claim {
        let moment = now()
        let (admitted, wait) = state.withLock { state in
            let admitted = state.pace.admit(upTo: limit, at: moment)
            // After this time enough checks for a batch are admitted again.
            return (admitted, state.pace.wait(for: max(width / 4, 1), at: moment))
        }
        guard admitted > 0 else { return WorkerPool.Claim(work: [], nextLook: wait) }
        do {
            let checks = try await grantContext.grants.claimChecks(
                limit: admitted, at: moment, nextAfter: moment.advanced(byMilliseconds: schedule.interval),
                jitterMilliseconds: schedule.jitter)
            guard checks.count < admitted else { return WorkerPool.Claim(work: checks, nextLook: wait) }
            state.withLock { $0.pace.giveBack(admitted - checks.count) }
            let due = try? await grantContext.grants.nextDue().check
            return WorkerPool.Claim(work: checks, due: due, at: moment, atMost: Self.longestLook)
        } catch {
            state.withLock { $0.pace.giveBack(admitted) }
            log.tell("no checks could be claimed", about: error, at: moment)
            return .failed(pause: .seconds(5))
        }
    }

    func perform(_ check: ClaimedCheck) async {
        let moment = now()
        if let until = state.withLock({ $0.pace.rest(of: check.clientID, at: moment) }) {
            metrics.count(.refusedUs)
            return await release(check, until: until)
        }
        guard let token = open(check, at: moment) else { return metrics.count(.unreadable) }
        do {
            try await apple.validate(refreshToken: token, clientID: check.clientID.rawValue)
            state.withLock { $0.pace.reached(check.clientID) }
            metrics.count(.valid)
        } catch {
            await handle(error, about: check, askedAt: moment)
        }
    }

    /// A sealed token that cannot be opened stays stored, and is logged as an error every day: it opens again
    /// when its key is configured again, and nothing else would report a row that was changed.
    private func open(_ check: ClaimedCheck, at moment: Moment) -> String? {
        guard let sealer = grantContext.sealer else {
            tell("no sealing key: no refresh token can be checked", of: check, at: moment)
            return nil
        }
        do {
            return try sealer.open(
                check.sealed, as: .refreshToken, of: check.accountID, clientID: check.clientID)
        } catch {
            tell("a sealed refresh token does not open", of: check, error, at: moment)
            return nil
        }
    }

    private func handle(_ error: AppleCallError, about check: ClaimedCheck, askedAt moment: Moment) async {
        switch CheckVerdict(error) {
        case .valid:
            metrics.count(.valid)
        case .rejected:
            state.withLock { $0.pace.reached(check.clientID) }
            await reject(check, at: moment)
        case .notAsked:
            metrics.count(.notAsked)
            var generator = SystemRandomNumberGenerator()
            let until = state.withLock { $0.pace.missed(at: now(), using: &generator) }
            // The times are spread, so that not all checks are made in the first second after the pause.
            let spread = Int64.random(in: 0..<min(30_000, schedule.jitter), using: &generator)
            await release(check, until: until.advanced(byMilliseconds: spread))
        case .throttled:
            metrics.count(.throttled)
            var generator = SystemRandomNumberGenerator()
            state.withLock { $0.pace.throttled(at: now(), using: &generator) }
            tell("Apple throttles the daily check", of: check, error, at: moment)
        case .refusedUs:
            metrics.count(.refusedUs)
            tell("Apple cannot be asked for this client ID", of: check, error, at: moment)
            await release(check, until: state.withLock { $0.pace.refused(check.clientID, at: now()) })
        case .unknown:
            metrics.count(.unknown)
            tell("a daily check brought no answer", of: check, error, at: moment)
        }
    }

    private func reject(_ check: ClaimedCheck, at moment: Moment) async {
        let command = RejectionCommand(
            key: check.key, accountID: check.accountID, clientID: check.clientID,
            primaryClientID: check.primaryClientID, tokenID: check.tokenID, moment: moment)
        do {
            _ = try await StorageRetry(clock: clock).run {
                try await commits.submit(command)
            }
            metrics.count(.rejected)
        } catch is AccountRefusal {
            // The account was erased or transferred meanwhile: there is no token left to revoke.
            metrics.count(.rejected)
        } catch {
            // Apple will respond the same tomorrow.
            metrics.count(.notStored)
            tell("a refused refresh token was not stored", of: check, error, at: moment)
        }
    }

    private func release(_ check: ClaimedCheck, until moment: Moment) async {
        do {
            try await grantContext.grants.releaseCheck(check, until: moment)
        } catch {
            // The token then waits for its next day.
            tell("a check was not released", of: check, error, at: now())
        }
    }

    private func tell(
        _ message: Logger.Message, of check: ClaimedCheck, _ error: (any Error)? = nil, at moment: Moment
    ) {
        log.tell(
            message, about: error, of: check.clientID.rawValue, level: .error, at: moment,
            metadata: [
                "account": "\(check.accountID.rawValue)", "client_id": "\(check.clientID.rawValue)",
            ])
    }
}
