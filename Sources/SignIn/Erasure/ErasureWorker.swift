public import AppleAccounts
public import AppleIDClient
import Cryptography
public import Logging
public import ServiceLifecycle

/// Revokes the tokens of erased accounts at Apple, and proves the revocation: exchanges a code that was not
/// exchanged yet, revokes the token, and has a refresh refused. Each step is stored before the next, so that
/// another replica can continue after a crash.
///
/// Every erasure ends: with the proof, at the deadline, or as soon as it is certain that nothing can be done.
/// The report names the cause.
public struct ErasureWorker: Service {
    /// Milliseconds of a claim: longer than the longest step can take.
    static let lease: Int64 = 30_000
    /// Longest time between two looks. Bounds how long an erasure of a stopped process waits.
    static let longestLook = Duration.seconds(10)

    private let grantContext: AppleGrantContext
    private let apple: any AppleTokenService
    private let width: Int
    private let clock: any Clock<Duration>
    private let now: @Sendable () -> Moment
    private let throttledLog: ThrottledLog
    private let backoff = Backoff(first: .seconds(1), longest: .seconds(3600))
    private let metrics = ErasureMetrics()

    /// - Parameter width: Number of Apple tokens at once.
    public init(
        grantContext: AppleGrantContext, apple: any AppleTokenService, width: Int = 8,
        now: @escaping @Sendable () -> Moment, logger: Logger
    ) {
        self.grantContext = grantContext
        self.apple = apple
        self.width = width
        clock = grantContext.clock
        self.now = now
        throttledLog = ThrottledLog(logger)
    }

    public func run() async throws {
        await WorkerPool(width: width, signal: grantContext.signals.erasure, clock: clock).run(
            claim: claim, perform: perform)
    }

    func claim(_ limit: Int) async -> WorkerPool<ClaimedErasureGrant>.Claim {
        let moment = now()
        do {
            let grants = try await grantContext.grants.claimErasureGrants(
                limit: limit, at: moment, leaseUntil: moment.advanced(byMilliseconds: Self.lease), of: nil)
            let due = grants.count < limit ? try? await grantContext.grants.nextDue().erasure : nil
            return WorkerPool.Claim(work: grants, due: due, at: moment, atMost: Self.longestLook)
        } catch {
            throttledLog.tell("no erasures could be claimed", about: error, at: moment)
            return .failed(pause: .seconds(2))
        }
    }

    /// Goes as far as possible. A code becomes a token, the token is revoked, then comes the proof: three
    /// steps at most.
    func perform(_ claimed: ClaimedErasureGrant) async {
        var grant = claimed.grant
        for _ in 0..<3 {
            let action: ErasureAction
            switch grant.step {
            case .done: return
            case .exchange: action = await exchange(&grant, of: claimed)
            case .revoke, .prove: action = await step(grant, of: claimed)
            }
            // The task was cut off during a step. The next claim handles the unknown state. A completed step
            // is stored in any case.
            if Task.isCancelled, !action.proceeds { return }
            let moment = now()
            grant.apply(
                action, at: moment, lease: moment.advanced(byMilliseconds: Self.lease),
                delay: backoff.delay(after: Int(clamping: grant.attempts)), deadline: claimed.deadline)
            guard await save(grant, of: claimed, at: moment) else { return }
            guard action.proceeds else { return metrics.count(grant.step) }
        }
    }

    private func step(_ grant: ErasureGrant, of claimed: ClaimedErasureGrant) async -> ErasureAction {
        let token: String
        switch open(grant, of: claimed) {
        case .success(let secret): token = secret
        case .failure(let unopened): return unopened.action
        }
        let clientID = grant.clientID.rawValue
        guard grant.step == .prove else {
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

    /// Exchanges a code. The code's hash has bound it to its user when it was posted; the `sub` for a
    /// comparison with the response is erased.
    private func exchange(
        _ grant: inout ErasureGrant, of claimed: ClaimedErasureGrant
    ) async -> ErasureAction {
        let attempt = ExchangeAttempt(
            number: Int(clamping: grant.attempts), isInterrupted: claimed.isInterrupted,
            expiresAt: grant.expiresAt ?? claimed.deadline)
        if let cause = attempt.refusal(at: now()) { return .finish(.notRevoked, cause: cause.rawValue) }
        let code: String
        switch open(grant, of: claimed) {
        case .success(let secret): code = secret
        case .failure(let unopened): return unopened.action
        }
        do {
            let answer = try await apple.exchange(
                code: code, clientID: grant.clientID.rawValue, redirectURI: grant.redirectURI)
            let sealed = answer.refreshToken.flatMap { GrantSecret($0) }.flatMap {
                grantContext.sealer?.seal(
                    $0, as: .refreshToken, of: claimed.accountID, clientID: grant.clientID)
            }
            guard let sealed else {
                return .finish(.notRevoked, cause: RefreshTokenCause.exchangeUncertain.rawValue)
            }
            grant.sealed = sealed
            grant.kind = .refreshToken
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

    /// A missing key can be configured again before the deadline. Without any key, and for a value that is
    /// not what was sealed, waiting does not help.
    private func open(
        _ grant: ErasureGrant, of claimed: ClaimedErasureGrant
    ) -> Result<String, Unopened> {
        guard let sealer = grantContext.sealer else {
            return .failure(
                Unopened(action: .finish(.notRevoked, cause: RefreshTokenCause.noSealingKey.rawValue)))
        }
        let unreadable = RefreshTokenCause.sealedUnreadable.rawValue
        guard let sealed = grant.sealed else {
            return .failure(Unopened(action: .finish(.notRevoked, cause: unreadable)))
        }
        do {
            return .success(
                try sealer.open(sealed, as: grant.kind, of: claimed.accountID, clientID: grant.clientID))
        } catch {
            log("a sealed value of an erased account does not open", error, of: claimed, level: .error)
            return .failure(
                Unopened(
                    action: error.code == .unknownKey
                        ? .retry(grant.step, cause: unreadable) : .finish(.notRevoked, cause: unreadable)))
        }
    }

    /// A token that was obtained for a code must not be lost, and a proof must not be requested twice.
    private func save(
        _ grant: ErasureGrant, of claimed: ClaimedErasureGrant, at moment: Moment
    ) async -> Bool {
        do {
            try await StorageRetry(clock: clock).run {
                try await grantContext.grants.save(grant, of: claimed.erasureID, at: moment)
            }
            return true
        } catch {
            log("a step of an erasure was not stored", error, of: claimed, level: .error)
            return false
        }
    }

    private func log(
        _ message: Logger.Message, _ error: (any Error)?, of claimed: ClaimedErasureGrant,
        level: Logger.Level = .notice
    ) {
        let isOurs = (error as? AppleCallError)?.isOfConfiguration ?? false
        throttledLog.tell(
            message, about: error, of: claimed.grant.clientID.rawValue, level: isOurs ? .error : level,
            at: now(),
            metadata: [
                "erasure": "\(claimed.erasureID.rawValue)", "client_id": "\(claimed.grant.clientID.rawValue)",
                "error": "\(error.map { "\($0)" } ?? "still valid")",
            ])
    }
}
