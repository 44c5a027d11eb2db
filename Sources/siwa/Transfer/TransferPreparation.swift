import AppleAccounts
import AppleIDClient
import Composition
import Foundation

/// The sending team's step: writes a transfer identifier for each of an app's accounts to a file.
struct TransferPreparation {
    struct Outcome: Equatable {
        var total = 0
        /// Number of accounts with a line from an earlier run.
        var alreadyPrepared = 0
        var prepared = 0
        var failures: [TransferFailure] = []
        /// The error that stopped the run; `nil` if the run was not stopped.
        var stopped: AppleCallError?
    }

    let app: App
    let recipientTeam: TeamID
    let output: String
    let apple: any AppleMigrationService
    let perSecond: Int
    let clock: any Clock<Duration>
    /// Returns the next page of the app's accounts, after an account ID.
    let accounts: (AccountID?) async throws -> [TransferableAccount]

    /// - Parameters:
    ///   - isDryRun: True to send only one account's request, and to write nothing.
    ///   - begin: Called with the number of requests to make.
    func run(isDryRun: Bool, begin: (Int) -> Void, progress: () -> Void) async throws -> Outcome {
        let prepared = try preparedAccounts()
        var outcome = Outcome()
        var waiting: [TransferableAccount] = []
        var last: AccountID?
        while case let page = try await accounts(last), !page.isEmpty {
            outcome.total += page.count
            waiting += page.filter { !prepared.contains($0.accountID) }
            last = page.last?.accountID
        }
        outcome.alreadyPrepared = outcome.total - waiting.count
        if isDryRun { waiting = Array(waiting.prefix(1)) }
        begin(waiting.count)
        let file = isDryRun ? nil : try LineFile(appendingTo: output)
        let questions = AppleCallBatch(perSecond: perSecond, clock: clock) {
            [apple, app, recipientTeam] (account: TransferableAccount) async throws(AppleCallError) in
            try await apple.transferSubject(
                of: account.subject.rawValue, to: recipientTeam.rawValue,
                clientID: app.primaryClientID.rawValue)
        }
        outcome.stopped = try await questions.run(waiting) { (account: TransferableAccount, result) in
            progress()
            switch result.map({ line(for: account, transferSubject: $0) }) {
            case .success(let line?):
                try file?.append([line.json])
                outcome.prepared += 1
            case .success(nil):
                outcome.failures.append(
                    TransferFailure(accountID: account.accountID, cause: "answer_unusable"))
            case .failure(let error):
                outcome.failures.append(TransferFailure(accountID: account.accountID, error: error))
            }
        }
        if !isDryRun { try LineFile.replace("\(output).failures", with: outcome.failures.map(\.json)) }
        return outcome
    }

    /// Throws `LineFile.Unusable` if the file belongs to another app or another receiving team.
    private func preparedAccounts() throws -> Set<AccountID> {
        var prepared: Set<AccountID> = []
        for json in try LineFile.read(output) {
            guard let line = TransferLine(json), line.clientID == app.primaryClientID,
                line.recipientTeam == recipientTeam, line.from.team == app.team
            else {
                throw LineFile.Unusable(
                    path: output, reason: "is for another app or team; choose another file")
            }
            prepared.insert(line.accountID)
        }
        return prepared
    }

    private func line(for account: TransferableAccount, transferSubject: String) -> TransferLine? {
        guard let transferSubject = AppleSubject(transferSubject) else { return nil }
        return TransferLine(
            accountID: account.accountID, from: SubjectKey(team: app.team, subject: account.subject),
            recipientTeam: recipientTeam, clientID: app.primaryClientID, transferSubject: transferSubject,
            createdAt: account.createdAt)
    }
}
