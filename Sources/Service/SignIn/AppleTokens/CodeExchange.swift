import AppleAccounts
import AppleIDClient
public import AppleIdentity
import Commits
import JOSE
public import KeySets
import Logging

/// Exchanges the authorization codes from sign-ins for refresh tokens, starting immediately. While Apple is
/// unreachable or throttles requests, retries until the code expires after five minutes.
///
/// A worker first claims each code in the database, so that no two processes send it. A crash leaves only the
/// claim behind, and the claim expires.
struct CodeExchange: Worker {
    /// At a response time of 200 ms, 32 concurrent exchanges handle 160 codes per second.
    static let traits = WorkerTraits(
        // Other processes' codes send no signal to this process, so `longestLook` bounds the delay for the
        // codes of a stopped process.
        width: 32, longestLook: .seconds(10), failurePause: .seconds(2),
        unclaimed: "no codes could be claimed", counter: "siwa_apple_exchanges",
        help: "Exchanges of authorization codes at Apple by result.")
    /// Claim duration in milliseconds. It is longer than an exchange with two signing keys and a fetch of
    /// Apple's keys can take.
    static let lease: Int64 = 30_000
    /// A code expires after five minutes, and pauses of at most half a minute leave time for several
    /// attempts.
    ///
    /// Apple throttles the whole service, so the first throttled exchange pauses all exchanges. A single
    /// refusal may be due to a wrong redirect URI, so a client ID pauses only after several refusals in a
    /// row.
    static let paceLimits = ApplePace.Limits(
        backoff: Backoff(first: .seconds(1), longest: .seconds(30)), throttlesInARow: 1, refusalsInARow: 3,
        clientRest: 30_000)

    enum WorkResult: CountedResult {
        case held, again, notStored
        case unavailable(RefreshTokenCause)

        static var allCases: [Self] {
            [.held, .again, .notStored] + RefreshTokenCause.allCases.map { .unavailable($0) }
        }

        var label: String {
            switch self {
            case .held: "held"
            case .again: "again"
            case .notStored: "not_stored"
            case .unavailable(let cause): cause.rawValue
            }
        }
    }

    private enum Outcome {
        /// Apple issued a refresh token.
        case token(AppleTokenSecret)
        case unavailable(RefreshTokenCause)
        case tryAgain(at: Moment)

        var isToken: Bool {
            if case .token = self { true } else { false }
        }
    }

    let context: WorkerContext<WorkResult>
    private let tokenContext: AppleTokenContext
    private let commits: GroupCommit<AccountCommand>
    private let apple: any AppleTokenService
    private let check: TokenResponseCheck
    private let schedule: CheckSchedule
    private let pace: SharedPace
    private let backoff = Backoff(first: .seconds(1), longest: .seconds(30))

    /// - Parameters:
    ///   - check: Checks Apple's response to a code exchange.
    ///   - schedule: The schedule of daily checks, which determines a new token's first check.
    init(
        tokenContext: AppleTokenContext, commits: GroupCommit<AccountCommand>, apple: any AppleTokenService,
        check: TokenResponseCheck, schedule: CheckSchedule = CheckSchedule(),
        now: @escaping @Sendable () -> Moment, logger: Logger
    ) {
        context = tokenContext.workerContext(for: Self.self, now: now, logger: logger)
        self.tokenContext = tokenContext
        self.commits = commits
        self.apple = apple
        self.check = check
        self.schedule = schedule
        pace = SharedPace(ApplePace(Self.paceLimits, perSecond: nil, at: now()))
    }

    var claimPace: SharedPace? { pace }

    func claim(limit: Int, at moment: Moment) async throws -> [ClaimedCode] {
        try await tokenContext.tokens.claimCodes(
            limit: limit, at: moment, leaseUntil: moment.advanced(byMilliseconds: Self.lease))
    }

    func nextDue() async throws -> Moment? { try await tokenContext.tokens.nextDue().code }

    func clientID(of code: ClaimedCode) -> String { code.record.clientID.rawValue }

    func logMetadata(of code: ClaimedCode) -> Logger.Metadata {
        [
            "account": "\(code.record.accountID.rawValue)",
            "client_id": "\(code.record.clientID.rawValue)",
        ]
    }

    func perform(_ code: ClaimedCode) async -> WorkOutcome<WorkResult> {
        let record = code.record
        let attempt = ExchangeAttempt(
            number: Int(clamping: record.attempts), isInterrupted: code.isInterrupted,
            expiresAt: record.expiresAt)
        let moment = now()
        let rest = pace.update { $0.rest(of: record.clientID, at: moment) }
        if let rest, let later = attempt.later(rest, at: moment) { return release(code, until: later) }
        let outcome = await exchange(code, attempt)
        // The task was cancelled during the call. The code's next claim handles its unknown state.
        if Task.isCancelled, !outcome.isToken { return .cutOff }
        switch outcome {
        case .token(let token): return await keep(token, of: code)
        case .unavailable(let cause): return await finish(code, .unavailable(cause), as: .unavailable(cause))
        case .tryAgain(let moment): return release(code, until: moment)
        }
    }

    private func release(_ code: ClaimedCode, until moment: Moment) -> WorkOutcome<WorkResult> {
        .ends(
            .again,
            with: ClaimEnd(unstored: "a code was not released") {
                try await tokenContext.tokens.releaseCode(code.record.id, until: moment)
            })
    }

    private func exchange(_ code: ClaimedCode, _ attempt: ExchangeAttempt) async -> Outcome {
        let record = code.record
        if let cause = attempt.refusal(at: now()) { return .unavailable(cause) }
        guard let sealer = tokenContext.sealer else { return .unavailable(.noSealingKey) }
        let secret: String
        do {
            secret = try sealer.open(
                record.sealed, as: .authorizationCode, of: record.accountID, clientID: record.clientID)
        } catch {
            // A code expires within minutes, so restoring a sealing key later does not help.
            tell("a sealed code does not open", of: code, error, level: .error)
            return .unavailable(.sealedUnreadable)
        }
        do {
            let response = try await apple.exchange(
                code: secret, clientID: record.clientID.rawValue, redirectURI: record.redirectURI)
            pace.update { $0.reached(record.clientID) }
            return await outcome(of: response, for: code)
        } catch {
            let moment = now()
            pace.update { pace in
                var generator = SystemRandomNumberGenerator()
                pace.exchangeFailed(error, of: record.clientID, at: moment, using: &generator)
            }
            tell(
                "a code was not exchanged", of: code, error,
                level: error.isOfConfiguration ? .error : .notice)
            let delay = backoff.delay(after: attempt.number)
            return switch attempt.verdict(on: error, at: moment, delay: delay) {
            case .giveUp(let cause): .unavailable(cause)
            case .tryAgain(let moment): .tryAgain(at: moment)
            }
        }
    }

    private func outcome(of response: AppleTokenResponse, for code: ClaimedCode) async -> Outcome {
        guard let token = response.refreshToken.flatMap({ AppleTokenSecret($0) }) else {
            tell("Apple's response has no refresh token", of: code, level: .error)
            return .unavailable(.exchangeUncertain)
        }
        let finding = await check.check(
            response, subject: code.key.subject, clientID: code.record.clientID, at: now())
        switch finding {
        case .confirmed: break
        case .keysMissing:
            tell("a refresh token was kept without Apple's keys", of: code, level: .notice)
        case .mismatch:
            tell("Apple's response is about another user", of: code, level: .error)
            return .unavailable(.identityMismatch)
        }
        return .token(token)
    }

    private func keep(_ token: AppleTokenSecret, of code: ClaimedCode) async -> WorkOutcome<WorkResult> {
        let record = code.record
        guard
            let sealed = tokenContext.sealer?.seal(
                token, as: .refreshToken, of: record.accountID, clientID: record.clientID)
        else { return await finish(code, .unavailable(.noSealingKey), as: .unavailable(.noSealingKey)) }
        let moment = now()
        var generator = SystemRandomNumberGenerator()
        let outcome = ExchangeCommand.Outcome.token(
            sealed, tokenID: UniqueID(at: moment, using: &generator), authorizedAt: record.authorizedAt,
            nextCheckAt: schedule.next(after: moment, using: &generator))
        return await finish(code, outcome, as: .held)
    }

    private func finish(
        _ code: ClaimedCode, _ outcome: ExchangeCommand.Outcome, as result: WorkResult
    ) async -> WorkOutcome<WorkResult> {
        let record = code.record
        let command = ExchangeCommand(
            codeID: record.id, key: code.key, accountID: record.accountID, clientID: record.clientID,
            primaryClientID: record.primaryClientID, outcome: outcome, receivedAt: now())
        let retry = StorageRetry(clock: context.clock)
        do {
            do {
                _ = try await retry.run { try await commits.submit(command) }
                tokenContext.signals[DailyCheck.self].wake()
            } catch is AccountRefusal {
                // If the account was erased during the exchange, the erasure has the code, so it gets the
                // token and revokes it. If the account was transferred to another team, that team cannot use
                // the token.
                guard case .token(let sealed, let tokenID, _, _) = outcome else { return .ended(result) }
                let isAdopted = try await retry.run {
                    try await tokenContext.tokens.adoptErasureToken(
                        codeID: record.id, tokenID: tokenID, sealed: sealed, at: now())
                }
                if isAdopted { tokenContext.signals[ErasureWorker.self].wake() }
            }
            return .ended(result)
        } catch {
            tell("the outcome of an exchange was not stored", of: code, error, level: .error)
            return .ended(.notStored)
        }
    }
}

/// Checks that Apple's response to a code identifies the user who posted the code (OpenID Connect Core
/// §3.1.3.7).
///
/// A `c_hash` bound the code to a verified identity token, and Apple's response arrived over TLS, so the
/// service keeps the refresh token even if Apple's keys are unavailable or do not contain the signing key
/// (rule 6 of that section). Discarding the token would protect no user, and it cannot be requested again.
public struct TokenResponseCheck: Sendable {
    let verifier: IdentityTokenVerifier
    let keys: any VerificationKeys

    public init(verifier: IdentityTokenVerifier, keys: any VerificationKeys) {
        (self.verifier, self.keys) = (verifier, keys)
    }

    enum Finding: Equatable {
        case confirmed
        /// The key is missing, but the response is accepted because of the code's hash and TLS.
        case keysMissing
        case mismatch
    }

    func check(
        _ response: AppleTokenResponse, subject: AppleSubject, clientID: ClientID, at now: Moment
    ) async -> Finding {
        guard let identityToken = response.identityToken, let token = try? UnverifiedToken(identityToken)
        else {
            return .mismatch
        }
        let key: RSAPublicKey
        if let cached = keys.cachedKey(for: token.keyID) {
            key = cached
        } else if let fetched = try? await keys.key(for: token.keyID, issuedAt: token.claimedIssuedAt) {
            key = fetched
        } else {
            return .keysMissing
        }
        let identity = try? verifier.verify(
            token, with: key,
            expecting: IdentityTokenExpectations(
                clientID: clientID.rawValue, accessToken: response.accessToken),
            at: NumericDate(clampingSecondsSince1970: now.milliseconds / 1000))
        return identity.flatMap { AppleSubject($0.subject) } == subject ? .confirmed : .mismatch
    }
}

extension ApplePace {
    /// Updates the pace after a failed exchange. While Apple is unreachable, the client's circuit breaker
    /// prevents calls, and each code has its own pause.
    mutating func exchangeFailed(
        _ error: AppleCallError, of clientID: ClientID, at now: Moment,
        using generator: inout some RandomNumberGenerator
    ) {
        switch error.code {
        case .throttled:
            throttled(at: now, retryAfter: error.retryAfter, using: &generator)
        case .rejected where error.isOfConfiguration:
            _ = refused(clientID, at: now)
        case .rejected:
            reached(clientID)
        case .unreachable, .circuitOpen, .timedOut, .connectionLost, .responseUnusable, .serverFailed,
            .noSigningKey, .signingFailed:
            break
        }
    }
}
