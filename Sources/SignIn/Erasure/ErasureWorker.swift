import AppleAccounts
import AppleIDClient
import Cryptography
import Logging

/// Revokes the tokens of erased accounts at Apple, and proves the revocation: exchanges a code that was not
/// exchanged yet, revokes the token, and has a refresh refused. Each step is stored before the next, so that
/// another replica can continue after a crash.
///
/// Every erasure ends: with the proof, at the deadline, or as soon as it is certain that nothing can be done.
/// The report names the cause.
struct ErasureWorker: Worker {
    static let traits = WorkerTraits(
        // The longest look bounds how long an erasure of a stopped process waits.
        width: 8, longestLook: .seconds(10), failurePause: .seconds(2),
        unclaimed: "no erasures could be claimed", counter: "siwa_apple_revocations",
        help: "Revocations of erased accounts' tokens at Apple by result.")
    /// Milliseconds of a claim: longer than the longest step can take.
    static let lease: Int64 = 30_000

    enum WorkResult: CountedResult {
        case ended(ErasureOutcome)
        case again

        static var allCases: [Self] { ErasureOutcome.allCases.map { .ended($0) } + [.again] }

        init(_ step: ErasureGrant.Step) {
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
    private let grantContext: AppleGrantContext
    private let apple: any AppleTokenService
    private let backoff = Backoff(first: .seconds(1), longest: .seconds(3600))

    init(
        grantContext: AppleGrantContext, apple: any AppleTokenService,
        now: @escaping @Sendable () -> Moment, logger: Logger
    ) {
        context = grantContext.workerContext(for: Self.self, now: now, logger: logger)
        self.grantContext = grantContext
        self.apple = apple
    }

    var claimPace: SharedPace? { nil }

    func claim(limit: Int, at moment: Moment) async throws -> [ClaimedErasureGrant] {
        try await grantContext.grants.claimErasureGrants(
            limit: limit, at: moment, leaseUntil: moment.advanced(byMilliseconds: Self.lease), of: nil)
    }

    func nextDue() async throws -> Moment? { try await grantContext.grants.nextDue().erasure }

    func clientID(of claimed: ClaimedErasureGrant) -> String { claimed.grant.clientID.rawValue }

    func logMetadata(of claimed: ClaimedErasureGrant) -> Logger.Metadata {
        ["erasure": "\(claimed.erasureID.rawValue)", "client_id": "\(claimed.grant.clientID.rawValue)"]
    }

    /// Goes as far as possible. A code becomes a token, the token is revoked, then comes the proof: three
    /// steps at most.
    func perform(_ claimed: ClaimedErasureGrant) async -> WorkOutcome<WorkResult> {
        var grant = claimed.grant
        for _ in 0..<3 {
            let action: ErasureAction
            switch grant.step {
            case .done: return .ended(WorkResult(grant.step))
            case .exchange: action = await exchange(&grant, of: claimed)
            case .revoke, .prove: action = await step(grant, of: claimed)
            }
            // The task was cut off during a step. The next claim handles the unknown state. A completed step
            // is stored in any case.
            if Task.isCancelled, !action.proceeds { return .cutOff }
            let moment = now()
            grant.apply(
                action, at: moment, lease: moment.advanced(byMilliseconds: Self.lease),
                delay: backoff.delay(after: Int(clamping: grant.attempts)), deadline: claimed.deadline)
            guard await save(grant, of: claimed, at: moment) else { return .cutOff }
            guard action.proceeds else { break }
        }
        return .ended(WorkResult(grant.step))
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
            try await StorageRetry(clock: context.clock).run {
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
        tell(
            message, of: claimed, error, level: isOurs ? .error : level,
            adding: ["error": "\(error.map { "\($0)" } ?? "still valid")"])
    }
}
