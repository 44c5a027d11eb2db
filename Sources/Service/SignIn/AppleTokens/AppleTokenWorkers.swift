public import AppleAccounts
public import AppleIDClient
public import Commits
public import Logging
public import ServiceLifecycle

/// The workers that call Apple: they exchange codes, check tokens every day, and revoke the tokens of erased
/// accounts.
///
/// At shutdown the three stop together, and each finishes the work that it has begun: an exchange is never
/// cut off, because its response would be lost. In a service group they come after the group commit, which
/// has to store their results, and before the server, which may still wait for an erasure.
public struct AppleTokenWorkers: Service {
    private let services: [any Service]

    /// - Parameters:
    ///   - commits: Stores the results of the workers.
    ///   - check: Checks Apple's response to a code.
    ///   - schedule: Schedule of the daily check.
    ///   - checksPerSecond: The largest rate of daily checks.
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
