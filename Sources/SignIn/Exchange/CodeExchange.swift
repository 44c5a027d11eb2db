public import AppleAccounts
public import AppleIDClient
import AppleIdentity
public import Commits
import KeySets
public import Logging
public import ServiceLifecycle

/// Exchanges the authorization codes of sign-ins for refresh tokens: at once, and again within their five
/// minutes while Apple is unreachable.
///
/// Every code is claimed in the database first, so that no two processes send it, and a crash leaves only a
/// claim that expires.
public struct CodeExchange: Service {
    /// Milliseconds of a claim: longer than an exchange with two signing keys and a fetch of Apple's keys can
    /// take.
    static let lease: Int64 = 30_000
    /// Longest time between two looks. No signal is sent for codes of other processes, so this bounds how
    /// long a code of a stopped process waits.
    static let longestLook = Duration.seconds(10)

    enum Outcome: Sendable, Equatable {
        /// A refresh token.
        case token(GrantSecret)
        case unavailable(RefreshTokenCause)
        case tryAgain(at: Moment)

        var isToken: Bool {
            if case .token = self { true } else { false }
        }
    }

    private let grantContext: AppleGrantContext
    private let commits: GroupCommit<AccountCommand>
    private let apple: any AppleTokenService
    private let check: GrantCheck
    private let schedule: CheckSchedule
    private let width: Int
    private let clock: any Clock<Duration>
    private let now: @Sendable () -> Moment
    private let log: ThrottledLog
    private let backoff = Backoff(first: .seconds(1), longest: .seconds(30))
    private let metrics = ExchangeMetrics()

    /// - Parameters:
    ///   - check: Checks Apple's response to a code.
    ///   - schedule: Schedule of the daily check, for the first check of a new token.
    ///   - width: Number of exchanges at once. While Apple takes 200 ms, 32 are 160 codes a second.
    public init(
        grantContext: AppleGrantContext, commits: GroupCommit<AccountCommand>, apple: any AppleTokenService,
        check: GrantCheck,
        schedule: CheckSchedule = CheckSchedule(), width: Int = 32,
        now: @escaping @Sendable () -> Moment, logger: Logger
    ) {
        self.grantContext = grantContext
        self.commits = commits
        self.apple = apple
        self.check = check
        self.schedule = schedule
        self.width = width
        clock = grantContext.clock
        self.now = now
        log = ThrottledLog(logger)
    }

    public func run() async throws {
        await WorkerPool(width: width, signal: grantContext.signals.exchange, clock: clock).run(
            claim: claim, perform: perform)
    }

    func claim(_ limit: Int) async -> WorkerPool<ClaimedCode>.Claim {
        let moment = now()
        do {
            let codes = try await grantContext.grants.claimCodes(
                limit: limit, at: moment, leaseUntil: moment.advanced(byMilliseconds: Self.lease))
            // An error here must not lose the codes that were claimed.
            let due = codes.count < limit ? try? await grantContext.grants.nextDue().code : nil
            return WorkerPool.Claim(work: codes, due: due, at: moment, atMost: Self.longestLook)
        } catch {
            log.tell("no codes could be claimed", about: error, at: moment)
            return .failed(pause: .seconds(2))
        }
    }

    func perform(_ code: ClaimedCode) async {
        let outcome = await exchange(code)
        // The task was cut off during the call. The next claim handles the code's unknown state.
        if Task.isCancelled, !outcome.isToken { return }
        metrics.count(outcome)
        switch outcome {
        case .token(let token): await keep(token, of: code)
        case .unavailable(let cause): await finish(code, .unavailable(cause))
        case .tryAgain(let moment):
            do {
                try await grantContext.grants.releaseCode(code.record.id, until: moment)
            } catch {
                // The claim then expires by itself.
                tell("a code was not released", of: code, error)
            }
        }
    }

    private func exchange(_ code: ClaimedCode) async -> Outcome {
        let record = code.record
        let attempt = ExchangeAttempt(
            number: Int(clamping: record.attempts), isInterrupted: code.isInterrupted,
            expiresAt: record.expiresAt)
        if let cause = attempt.refusal(at: now()) { return .unavailable(cause) }
        guard let sealer = grantContext.sealer else { return .unavailable(.noSealingKey) }
        let secret: String
        do {
            secret = try sealer.open(
                record.sealed, as: .authorizationCode, of: record.accountID, clientID: record.clientID)
        } catch {
            // A code lives for minutes: a sealing key that is configured again later would be too late.
            tell("a sealed code does not open", of: code, error, level: .error)
            return .unavailable(.sealedUnreadable)
        }
        do {
            let grant = try await apple.exchange(
                code: secret, clientID: record.clientID.rawValue, redirectURI: record.redirectURI)
            return await outcome(of: grant, for: code)
        } catch {
            tell(
                "a code was not exchanged", of: code, error,
                level: error.isOfConfiguration ? .error : .notice)
            let delay = backoff.delay(after: attempt.number)
            return switch attempt.verdict(on: error, at: now(), delay: delay) {
            case .giveUp(let cause): .unavailable(cause)
            case .tryAgain(let moment): .tryAgain(at: moment)
            }
        }
    }

    private func outcome(of grant: TokenGrant, for code: ClaimedCode) async -> Outcome {
        guard let token = grant.refreshToken.flatMap({ GrantSecret($0) }) else {
            tell("Apple's answer has no refresh token", of: code, level: .error)
            return .unavailable(.exchangeUncertain)
        }
        let finding = await check.check(
            grant, subject: code.key.subject, clientID: code.record.clientID, at: now())
        switch finding {
        case .confirmed: break
        case .keysMissing:
            tell("a refresh token was kept without Apple's keys", of: code, level: .notice)
        case .mismatch:
            tell("Apple's answer is about another person", of: code, level: .error)
            return .unavailable(.identityMismatch)
        }
        return .token(token)
    }

    private func keep(_ token: GrantSecret, of code: ClaimedCode) async {
        let record = code.record
        guard
            let sealed = grantContext.sealer?.seal(
                token, as: .refreshToken, of: record.accountID, clientID: record.clientID)
        else { return await finish(code, .unavailable(.noSealingKey)) }
        let moment = now()
        var generator = SystemRandomNumberGenerator()
        let outcome = ExchangeCommand.Outcome.token(
            sealed, tokenID: UniqueID(at: moment, using: &generator), authorizedAt: record.authorizedAt,
            nextCheckAt: schedule.next(after: moment, using: &generator))
        await finish(code, outcome)
    }

    private func finish(_ code: ClaimedCode, _ outcome: ExchangeCommand.Outcome) async {
        let record = code.record
        let command = ExchangeCommand(
            codeID: record.id, key: code.key, accountID: record.accountID, clientID: record.clientID,
            primaryClientID: record.primaryClientID, outcome: outcome, receivedAt: now())
        let retry = StorageRetry(clock: clock)
        do {
            do {
                _ = try await retry.run { try await commits.submit(command) }
                grantContext.signals.check.wake()
            } catch is AccountRefusal {
                // The account was erased meanwhile: the code is then in the erasure, which has to revoke the
                // token. Or the account was transferred to another team, which cannot use the token.
                guard case .token(let sealed, let tokenID, _, _) = outcome else { return }
                let isAdopted = try await retry.run {
                    try await grantContext.grants.adoptErasureToken(
                        codeID: record.id, tokenID: tokenID, sealed: sealed, at: now())
                }
                if isAdopted { grantContext.signals.erasure.wake() }
            }
        } catch {
            metrics.countLost()
            tell("the outcome of an exchange was not stored", of: code, error, level: .error)
        }
    }

    private func tell(
        _ message: Logger.Message, of code: ClaimedCode, _ error: (any Error)? = nil,
        level: Logger.Level = .warning
    ) {
        let clientID = code.record.clientID.rawValue
        log.tell(
            message, about: error, of: clientID, level: level, at: now(),
            metadata: ["account": "\(code.record.accountID.rawValue)", "client_id": "\(clientID)"])
    }
}
