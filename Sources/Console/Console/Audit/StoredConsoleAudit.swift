public import AppleAccounts

/// Keeps the actions of operators in the audit log of the database.
public struct StoredConsoleAudit: ConsoleAudit {
    private let store: any AuditStore
    private let now: @Sendable () -> Moment

    public init(store: any AuditStore, now: @escaping @Sendable () -> Moment) {
        (self.store, self.now) = (store, now)
    }

    public func record(_ entry: ConsoleAuditEntry) async throws {
        let origin = AuditOrigin(.consoleOperator(entry.operatorName), requestID: entry.requestID)
        let stored = AuditEntry(
            entry.action.auditAction, by: origin, at: now(), outcome: entry.outcome.auditOutcome,
            person: entry.account.map { AuditPerson($0) })
        try await store.appendAudit([stored])
    }
}

extension ConsoleAuditEntry.Action {
    fileprivate var auditAction: AuditAction {
        switch self {
        case .signIn: .consoleSignIn
        case .signOut: .consoleSignOut
        case .show: .consoleShow
        case .replayRequest: .requestReplayed
        }
    }
}

extension ConsoleAuditEntry.Outcome {
    fileprivate var auditOutcome: AuditOutcome {
        switch self {
        case .done: .done
        case .refused: .refused
        }
    }
}
