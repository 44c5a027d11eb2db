public import AppleAccounts
public import AppleIDClient
public import Logging
public import ServiceLifecycle

/// Keeps up the relation with Apple: exchanges codes, checks tokens every day, revokes what was erased.
///
/// At shutdown the three stop together, each with what it has begun: no exchange is cut off whose answer
/// would be lost. In a service group they stand behind the group commit, which has to store their results,
/// and before the server, which still waits for an erasure or two.
public struct RelationWorkers: Service {
    private let services: [any Service]

    /// - Parameters:
    ///   - commits: Stores what the workers learn.
    ///   - check: Checks what Apple returns for a code.
    ///   - schedule: Of the daily check.
    ///   - checksPerSecond: At most.
    public init(
        relation: AppleRelation, commits: GroupCommit, apple: any AppleTokenService, check: GrantCheck,
        schedule: CheckSchedule = CheckSchedule(), checksPerSecond: Double = 25,
        now: @escaping @Sendable () -> Moment, logger: Logger
    ) {
        services = [
            CodeExchange(
                relation: relation, commits: commits, apple: apple, check: check, schedule: schedule,
                now: now, logger: logger),
            DailyCheck(
                relation: relation, commits: commits, apple: apple, schedule: schedule,
                perSecond: checksPerSecond, now: now, logger: logger),
            ErasureWorker(relation: relation, apple: apple, now: now, logger: logger),
        ]
    }

    public func run() async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for service in services { group.addTask { try await service.run() } }
            try await group.waitForAll()
        }
    }
}
