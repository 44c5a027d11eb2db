public import AppleAccounts

/// Keeps what operators do in the console in the audit log.
public protocol ConsoleAudit: Sendable {
    /// Returns after the entry is durable. A page calls it before it shows what the entry tells of, and shows
    /// nothing if it throws: personal data is never shown without a row of the audit log.
    func record(_ entry: ConsoleAuditEntry) async throws
}

/// One action of an operator in the console.
public struct ConsoleAuditEntry: Sendable, Hashable {
    /// Closed, so that no page writes words of its own into the audit log. Changes of accounts and receivers are
    /// not among them: the store writes their rows in the transaction of the change, with the operator.
    public enum Action: String, Sendable, CaseIterable {
        case signIn = "console_sign_in"
        case signOut = "console_sign_out"
        /// Masked personal data was shown.
        case show = "console_show"
        case replayRequest = "request_replay"
    }

    public enum Outcome: String, Sendable, CaseIterable {
        case done
        case refused
    }

    /// The name of the operator's API key, or `developer` in `siwa dev`. Never a key.
    public let operatorName: String
    public let action: Action
    /// The account that the action is about, if it is about one.
    public let account: AccountID?
    public let requestID: String
    public let outcome: Outcome

    public init(
        operatorName: String, action: Action, account: AccountID? = nil, requestID: String,
        outcome: Outcome = .done
    ) {
        (self.operatorName, self.action, self.account) = (operatorName, action, account)
        (self.requestID, self.outcome) = (requestID, outcome)
    }
}
