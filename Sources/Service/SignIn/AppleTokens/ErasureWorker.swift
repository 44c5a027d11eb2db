import AppleAccounts
import AppleIDClient
import Cryptography
import Logging

/// Revokes erased accounts' tokens at Apple, and proves the revocation: exchanges a pending code, revokes the
/// token, and checks that Apple refuses to refresh it. Each step is stored before the next step begins, so
/// that another replica can continue after a crash.
///
/// Every erasure ends: with the proof, at its deadline, or when a revocation is certainly impossible. The
/// erasure record names the cause.
struct ErasureWorker: Worker {
    static let traits = WorkerTraits(
        // `longestLook` bounds the delay for a stopped process's erasures.
        width: 8, longestLook: .seconds(10), failurePause: .seconds(2),
        unclaimed: "no erasures could be claimed", counter: "siwa_apple_revocations",
        help: "Revocations of erased accounts' tokens at Apple by result.")
    /// Claim duration in milliseconds. It is longer than the longest step can take.
    static let lease: Int64 = 30_000

    enum WorkResult: CountedResult {
        case ended(ErasureOutcome)
        case again

        static var allCases: [Self] { ErasureOutcome.allCases.map { .ended($0) } + [.again] }

        init(_ step: ErasureToken.Step) {
            switch step {
            case .done(let outcome): self = .ended(outcome)
            case .exchange, .revoke, .prove: self = .again
            }
        }

        var label: String {
            switch self {
            case .ended(let outcome): outcome.rawValue
            case .again: "again"
            }
        }
    }

    let context: WorkerContext<WorkResult>
    private let tokenContext: AppleTokenContext
    private let apple: any AppleTokenService
    private let backoff = Backoff(first: .seconds(1), longest: .seconds(3600))

    init(
        tokenContext: AppleTokenContext, apple: any AppleTokenService,
        now: @escaping @Sendable () -> Moment, logger: Logger
    ) {
        context = tokenContext.workerContext(for: Self.self, now: now, logger: logger)
        self.tokenContext = tokenContext
        self.apple = apple
    }

    var claimPace: SharedPace? { nil }

    func claim(limit: Int, at moment: Moment) async throws -> [ClaimedErasureToken] {
        try await tokenContext.tokens.claimErasureTokens(
            limit: limit, at: moment, leaseUntil: moment.advanced(byMilliseconds: Self.lease), of: nil)
    }

    func nextDue() async throws -> Moment? { try await tokenContext.tokens.nextDue().erasure }

    func clientID(of claimed: ClaimedErasureToken) -> String { claimed.token.clientID.rawValue }

    func logMetadata(of claimed: ClaimedErasureToken) -> Logger.Metadata {
        ["erasure": "\(claimed.erasureID.rawValue)", "client_id": "\(claimed.token.clientID.rawValue)"]
    }

    /// Performs as many steps as possible, at most three: code exchange, revocation, proof.
    func perform(_ claimed: ClaimedErasureToken) async -> WorkOutcome<WorkResult> {
        var item = claimed.token
        for _ in 0..<3 {
            let action: ErasureAction
            switch item.step {
            case .done: return .ended(WorkResult(item.step))
            case .exchange: action = await exchange(&item, of: claimed)
            case .revoke, .prove: action = await step(item, of: claimed)
            }
            // The task was cancelled during a step. The next claim handles the unknown state. A completed
            // step is stored even after cancellation.
            if Task.isCancelled, !action.proceeds { return .cutOff }
            let moment = now()
            item.apply(
                action, at: moment, lease: moment.advanced(byMilliseconds: Self.lease),
                delay: backoff.delay(after: Int(clamping: item.attempts)), deadline: claimed.deadline)
            guard await save(item, of: claimed, at: moment) else { return .cutOff }
            guard action.proceeds else { break }
        }
        return .ended(WorkResult(item.step))
    }

    private func step(_ item: ErasureToken, of claimed: ClaimedErasureToken) async -> ErasureAction {
        let token: String
        switch open(item, of: claimed) {
        case .success(let secret): token = secret
        case .failure(let unopened): return unopened.action
        }
        let clientID = item.clientID.rawValue
        guard item.step == .prove else {
            let error = await failure { () async throws(AppleCallError) in
                try await apple.revoke(refreshToken: token, clientID: clientID)
            }
            if let error { log("a token was not revoked", error, of: claimed) }
            return ErasureAction(afterRevocation: error)
        }
        let error = await failure { () async throws(AppleCallError) in
            _ = try await apple.validate(refreshToken: token, clientID: clientID)
        }
        let action = ErasureAction(afterProof: error)
        if case .retry = action { log("a revocation is not proven", error, of: claimed) }
        return action
    }

    private func failure(
        _ call: () async throws(AppleCallError) -> Void
    ) async -> AppleCallError? {
        do {
            try await call()
            return nil
        } catch {
            return error
        }
    }

    /// Exchanges a code. The code's hash bound it to its user when it was posted. The response cannot be
    /// compared with the `sub`, because the `sub` has been erased.
    private func exchange(
        _ item: inout ErasureToken, of claimed: ClaimedErasureToken
    ) async -> ErasureAction {
        let attempt = ExchangeAttempt(
            number: Int(clamping: item.attempts), isInterrupted: claimed.isInterrupted,
            expiresAt: item.expiresAt ?? claimed.deadline)
        if let cause = attempt.refusal(at: now()) { return .finish(.notRevoked, cause: cause.rawValue) }
        let code: String
        switch open(item, of: claimed) {
        case .success(let secret): code = secret
        case .failure(let unopened): return unopened.action
        }
        do {
            let response = try await apple.exchange(
                code: code, clientID: item.clientID.rawValue, redirectURI: item.redirectURI)
            let sealed = response.refreshToken.flatMap { AppleTokenSecret($0) }.flatMap {
                tokenContext.sealer?.seal(
                    $0, as: .refreshToken, of: claimed.accountID, clientID: item.clientID)
            }
            guard let sealed else {
                return .finish(.notRevoked, cause: RefreshTokenCause.exchangeUncertain.rawValue)
            }
            item.sealed = sealed
            item.kind = .refreshToken
            return .proceed(.revoke)
        } catch {
            log("a code of an erased account was not exchanged", error, of: claimed)
            return switch attempt.verdict(on: error, at: now(), delay: 0) {
            case .tryAgain: .retry(.exchange, cause: ErasureAction.word(for: error))
            case .giveUp(let cause): .finish(.notRevoked, cause: cause.rawValue)
            }
        }
    }

    private struct Unopened: Error {
        let action: ErasureAction
    }

    /// Opens a sealed value. Waiting helps only if the missing key can be configured again before the
    /// deadline. It does not help if there is no sealing key at all or the value was changed.
    private func open(
        _ item: ErasureToken, of claimed: ClaimedErasureToken
    ) -> Result<String, Unopened> {
        guard let sealer = tokenContext.sealer else {
            return .failure(
                Unopened(action: .finish(.notRevoked, cause: RefreshTokenCause.noSealingKey.rawValue)))
        }
        let unreadable = RefreshTokenCause.sealedUnreadable.rawValue
        guard let sealed = item.sealed else {
            return .failure(Unopened(action: .finish(.notRevoked, cause: unreadable)))
        }
        do {
            return .success(
                try sealer.open(sealed, as: item.kind, of: claimed.accountID, clientID: item.clientID))
        } catch {
            log("a sealed value of an erased account does not open", error, of: claimed, level: .error)
            return .failure(
                Unopened(
                    action: error.code == .unknownKey
                        ? .retry(item.step, cause: unreadable) : .finish(.notRevoked, cause: unreadable)))
        }
    }

    /// Stores a step's result, because a token issued for a code must not be lost and a proof must not be
    /// requested twice.
    private func save(
        _ item: ErasureToken, of claimed: ClaimedErasureToken, at moment: Moment
    ) async -> Bool {
        do {
            try await StorageRetry(clock: context.clock).run {
                try await tokenContext.tokens.save(item, of: claimed.erasureID, at: moment)
            }
            return true
        } catch {
            log("a step of an erasure was not stored", error, of: claimed, level: .error)
            return false
        }
    }

    private func log(
        _ message: Logger.Message, _ error: (any Error)?, of claimed: ClaimedErasureToken,
        level: Logger.Level = .notice
    ) {
        let isOurs = (error as? AppleCallError)?.isOfConfiguration ?? false
        tell(
            message, of: claimed, error, level: isOurs ? .error : level,
            adding: ["error": "\(error.map { "\($0)" } ?? "still valid")"])
    }
}

/// The next step in revoking an erased account's token. Does no I/O.
///
/// Apple responds with 200 to every revocation, so only a refused refresh proves the revocation. A token that
/// can still be refreshed is revoked again.
enum ErasureAction: Equatable {
    case proceed(ErasureToken.Step)
    /// Try again later, starting with this step.
    case retry(ErasureToken.Step, cause: String)
    case finish(ErasureOutcome, cause: String?)

    /// True if the next step follows immediately.
    var proceeds: Bool {
        if case .proceed = self { true } else { false }
    }

    /// - Parameter error: The revocation's error; `nil` if Apple responded with 200.
    init(afterRevocation error: AppleCallError?) {
        guard let error else {
            self = .proceed(.prove)
            return
        }
        switch error.code {
        case .noSigningKey:
            self = .finish(.notRevoked, cause: RefreshTokenCause.noSigningKey.rawValue)
        case .rejected where !error.isOfConfiguration:
            // Apple may have revoked the token already, which the proof will show.
            self = .proceed(.prove)
        case .rejected, .unreachable, .circuitOpen, .timedOut, .connectionLost, .responseUnusable,
            .serverFailed, .throttled, .signingFailed:
            self = .retry(.revoke, cause: Self.word(for: error))
        }
    }

    /// - Parameter error: The refresh's error; `nil` if the token can still be refreshed.
    init(afterProof error: AppleCallError?) {
        guard let error else {
            self = .retry(.revoke, cause: "still_valid")
            return
        }
        switch error.code {
        case .noSigningKey:
            self = .finish(.notRevoked, cause: RefreshTokenCause.noSigningKey.rawValue)
        case .rejected where error.appleError == .invalidGrant:
            self = .finish(.provenRevoked, cause: nil)
        case .rejected, .unreachable, .circuitOpen, .timedOut, .connectionLost, .responseUnusable,
            .serverFailed, .throttled, .signingFailed:
            self = .retry(.prove, cause: Self.word(for: error))
        }
    }

    /// Returns the cause for the erasure record: Apple's error code, or one of this service's codes.
    static func word(for error: AppleCallError) -> String {
        error.appleError?.rawValue ?? error.code.rawValue
    }
}

extension ErasureToken {
    /// Applies an action to the token's record. Does no I/O.
    ///
    /// - Parameters:
    ///   - lease: End of the claim if the next step follows immediately. Until then no other replica may
    ///     claim the record.
    ///   - delay: Milliseconds until the next attempt, if the action is a retry.
    ///   - deadline: Time after which the service no longer calls Apple, so that every erasure ends.
    mutating func apply(
        _ action: ErasureAction, at now: Moment, lease: Moment, delay: Int64, deadline: Moment
    ) {
        switch action {
        case .proceed(let next):
            step = next
            nextAttemptAt = lease
        case .retry(let next, let word):
            cause = word
            guard now < deadline else { return end(.notRevoked) }
            step = next
            // The last attempt is made at the deadline, not after it.
            nextAttemptAt = min(now.advanced(byMilliseconds: delay), deadline)
        case .finish(let outcome, let word):
            cause = word
            end(outcome)
        }
    }

    private mutating func end(_ outcome: ErasureOutcome) {
        step = .done(outcome)
        sealed = nil
    }
}
