public import AppleAccounts
public import AppleIDClient
public import Commits
public import Cryptography
public import Logging
public import ServiceLifecycle

/// The workers that call Apple: they exchange authorization codes, check refresh tokens daily, and revoke the
/// tokens of erased accounts.
///
/// On shutdown the three workers stop together, and each finishes its current work. An exchange is never
/// interrupted, because otherwise its response would be lost. A service group lists the workers between the
/// group commit, which stores their results, and the server, whose requests may wait for an erasure.
public struct AppleTokenWorkers: Service {
    private let services: [any Service]

    /// - Parameters:
    ///   - commits: Stores the workers' results.
    ///   - check: Checks Apple's response to a code exchange.
    ///   - schedule: The schedule of daily checks.
    ///   - checksPerSecond: Maximum number of daily checks per second.
    public init(
        tokenContext: AppleTokenContext, commits: GroupCommit<AccountCommand>, apple: any AppleTokenService,
        check: TokenResponseCheck,
        schedule: CheckSchedule = CheckSchedule(), checksPerSecond: Double = 25,
        now: @escaping @Sendable () -> Moment, logger: Logger
    ) {
        services = [
            ClaimLoop(
                CodeExchange(
                    tokenContext: tokenContext, commits: commits, apple: apple, check: check,
                    schedule: schedule, now: now, logger: logger)),
            ClaimLoop(
                DailyCheck(
                    tokenContext: tokenContext, commits: commits, apple: apple, schedule: schedule,
                    perSecond: checksPerSecond, now: now, logger: logger)),
            ClaimLoop(ErasureWorker(tokenContext: tokenContext, apple: apple, now: now, logger: logger)),
        ]
    }

    public func run() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for service in services { group.addTask { try await service.run() } }
            try await group.waitForAll()
        }
    }
}

/// The context that use cases and workers share. Use cases create work for Apple, and workers do it.
public struct AppleTokenContext: Sendable {
    public let tokens: any AppleTokenStore
    /// The sealing keys; `nil` if none is configured, in which case the service stores no codes or tokens
    /// from Apple.
    public let sealingKeys: SealingKeyRing?
    /// Returns `true` if the service has a private key for the team's calls to Apple.
    public let canSign: @Sendable (TeamID) -> Bool
    let clock: any Clock<Duration>
    let signals = WorkerSignals()

    /// - Parameter clock: The clock that measures pauses and retries.
    public init(
        tokens: any AppleTokenStore, sealingKeys: SealingKeyRing? = nil,
        canSign: @escaping @Sendable (TeamID) -> Bool = { _ in false },
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.tokens = tokens
        self.sealingKeys = sealingKeys
        self.canSign = canSign
        self.clock = clock
    }

    var sealer: AppleTokenSealer? { sealingKeys.map { AppleTokenSealer(keys: $0) } }

    func workerContext<W: Worker>(
        for worker: W.Type, now: @escaping @Sendable () -> Moment, logger: Logger
    ) -> WorkerContext<W.WorkResult> {
        WorkerContext(for: worker, signals: signals, clock: clock, now: now, logger: logger)
    }
}

/// Seals and opens stored authorization codes and refresh tokens from Apple.
public struct AppleTokenSealer: AppleTokenSealing {
    let keys: SealingKeyRing

    public init(keys: SealingKeyRing) {
        self.keys = keys
    }

    public func seal(
        _ secret: AppleTokenSecret, as purpose: SealedPurpose, of account: AccountID, clientID: ClientID
    ) -> SealedSecret {
        let sealed = SealedSecret(
            keys.seal(
                Array(secret.text.utf8), for: purpose.sealingPurpose,
                associatedData: purpose.associatedData(of: account, clientID: clientID)))
        guard let sealed else { preconditionFailure("a sealed secret is at most twice as long as a secret") }
        return sealed
    }

    func open(
        _ sealed: SealedSecret, as purpose: SealedPurpose, of account: AccountID, clientID: ClientID
    ) throws(SealError) -> String {
        let plaintext = try keys.open(
            sealed.bytes, for: purpose.sealingPurpose,
            associatedData: purpose.associatedData(of: account, clientID: clientID))
        return String(decoding: plaintext, as: UTF8.self)
    }
}

extension SealedPurpose {
    public var sealingPurpose: SealingPurpose { SealingPurpose(rawValue) }

    /// Returns the associated data of a sealed value: the account, and the client ID that Apple issued the
    /// secret for. A sealed value does not open for another account or client ID, so an attacker cannot swap
    /// rows.
    ///
    /// The data contains the account's ID instead of the `sub`, because a team transfer changes the `sub` and
    /// an erasure deletes it. Line feeds separate the three parts. No part can contain a line feed, so
    /// different triples have different data.
    public func associatedData(of account: AccountID, clientID: ClientID) -> [UInt8] {
        Array("\(rawValue)\n\(account.rawValue)\n\(clientID.rawValue)".utf8)
    }
}
