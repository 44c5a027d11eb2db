import AppleAccounts
import AppleIDClient
import AppleIdentity
import Composition
import StrictJSON

/// The receiving team's step: asks Apple for the new identifiers of the accounts in the file, then moves the
/// accounts.
///
/// Apple's responses are stored beside the file, so that no request is repeated, even if the database turns
/// out to be locked.
struct TransferApplication {
    struct Asked: Equatable {
        var total = 0
        /// Number of accounts with a result from an earlier run.
        var alreadyKnown = 0
        var learned = 0
        var failures: [TransferFailure] = []
        var stopped: AppleCallError?
    }

    struct Moved: Equatable {
        var moved = 0
        var made = 0
        var alreadyDone = 0
        var failures: [TransferFailure] = []
    }

    let path: String
    let lines: [TransferLine]
    let perSecond: Int
    let clock: any Clock<Duration>
    let now: Moment

    private static let batch = 200
    /// Maximum validity of transfer identifiers in milliseconds. Apple deletes them 60 days after the
    /// transfer was accepted, which was before this run.
    private static let open: Int64 = 60 * 86_400_000

    /// Reads the file. Throws `LineFile.Unusable` if the file is missing or invalid; see `TransferFile`.
    init(path: String, deployment: Deployment, perSecond: Int, clock: any Clock<Duration>, now: Moment) throws
    {
        let lines = try TransferFile(path: path, deployment: deployment).lines
        (self.path, self.lines, self.perSecond) = (path, lines, perSecond)
        (self.clock, self.now) = (clock, now)
    }

    var resultsPath: String { "\(path).results" }

    func results() throws -> [AccountID: TransferResult] {
        var results: [AccountID: TransferResult] = [:]
        for json in try LineFile.read(resultsPath) {
            guard let result = TransferResult(json) else {
                throw LineFile.Unusable(path: resultsPath, reason: "is not a results file of siwa transfer")
            }
            results[result.accountID] = result
        }
        return results
    }

    /// - Parameter isDryRun: True to send only one account's request, and to write nothing.
    func ask(
        _ apple: any AppleMigrationService, isDryRun: Bool, begin: (Int) -> Void, progress: () -> Void
    ) async throws -> Asked {
        let known = try results()
        var waiting = lines.filter { known[$0.accountID] == nil }
        var asked = Asked(total: lines.count, alreadyKnown: lines.count - waiting.count)
        if isDryRun { waiting = Array(waiting.prefix(1)) }
        begin(waiting.count)
        let file = isDryRun ? nil : try LineFile(appendingTo: resultsPath)
        let questions = AppleCallBatch(perSecond: perSecond, clock: clock) {
            (line: TransferLine) async throws(AppleCallError) in
            try await apple.recipient(
                ofTransferSubject: line.transferSubject.rawValue, clientID: line.clientID.rawValue)
        }
        asked.stopped = try await questions.run(waiting) { (line: TransferLine, result) in
            progress()
            switch result.map({ TransferResult(accountID: line.accountID, user: $0) }) {
            case .success(let result?):
                try file?.append([result.json])
                asked.learned += 1
            case .success(nil):
                asked.failures.append(TransferFailure(accountID: line.accountID, cause: "answer_unusable"))
            case .failure(let error):
                asked.failures.append(TransferFailure(accountID: line.accountID, error: error))
            }
        }
        return asked
    }

    /// Moves the accounts whose new identifiers are known. Stores the other accounts as open transfers, so
    /// that their next sign-in finds them. It is safe to repeat.
    func move(in store: any AccountStore & TransferStore, progress: (Int) -> Void) async throws -> Moved {
        let results = try results()
        var moved = Moved()
        for start in stride(from: 0, to: lines.count, by: Self.batch) {
            let batch = lines[start..<min(start + Self.batch, lines.count)]
            try await store.importTransfers(batch.map { record($0) })
            let known = batch.compactMap { line in results[line.accountID].map { (line, $0) } }
            if !known.isEmpty {
                let commands = known.map { AccountCommand.transfer(command($0, $1)) }
                let outcome = try await store.commit(commands)
                for ((line, _), result) in zip(known, outcome.results) {
                    moved.count(result, of: line.accountID)
                }
            }
            progress(batch.count)
        }
        return moved
    }

    private func record(_ line: TransferLine) -> TransferRecord {
        TransferRecord(
            recipientTeam: line.recipientTeam, transferSubject: line.transferSubject,
            accountID: line.accountID,
            from: line.from, createdAt: line.createdAt,
            expiresAt: Moment(milliseconds: now.milliseconds + Self.open))
    }

    private func command(_ line: TransferLine, _ result: TransferResult) -> TransferCommand {
        TransferCommand(
            accountID: line.accountID, from: line.from,
            to: SubjectKey(team: line.recipientTeam, subject: result.subject), clientID: line.clientID,
            email: result.email, createdAt: line.createdAt, receivedAt: now)
    }
}

extension TransferApplication.Moved {
    fileprivate mutating func count(_ result: CommandResult, of accountID: AccountID) {
        switch result {
        case .done(.transferred(.moved)): moved += 1
        case .done(.transferred(.made)): made += 1
        case .done(.transferred(.alreadyDone)): alreadyDone += 1
        case .done: failures.append(TransferFailure(accountID: accountID, cause: "unexpected_outcome"))
        case .refused(let refusal):
            failures.append(TransferFailure(accountID: accountID, cause: refusal.code.rawValue))
        case .failed(let error):
            failures.append(TransferFailure(accountID: accountID, cause: "storage_\(error.code)"))
        }
    }
}

/// A transferred account's new identifiers from Apple's response: one line of the results file.
struct TransferResult: Equatable, Sendable {
    let accountID: AccountID
    let subject: AppleSubject
    let email: EmailAddress?

    /// Creates a result. Returns `nil` if Apple's response has no usable subject.
    init?(accountID: AccountID, user: MigratedUser) {
        guard let subject = AppleSubject(user.subject) else { return nil }
        (self.accountID, self.subject) = (accountID, subject)
        // The response is not signed, but it comes from Apple's server over TLS, so it is trusted like a
        // token.
        email = user.email.flatMap {
            EmailAddress(
                address: $0, isVerified: true,
                isPrivate: RelayAddress.isPrivate(user.isPrivateEmail, address: $0))
        }
    }

    init?(_ json: JSONObject) {
        guard let accountID = json["account_id"]?.string.flatMap({ AccountID($0) }),
            let subject = json["sub"]?.string
        else { return nil }
        self.init(
            accountID: accountID,
            user: MigratedUser(
                subject: subject, email: json["email"]?.string, isPrivateEmail: json["is_private_email"]?.bool
            ))
    }

    var json: JSONObject {
        var json = JSONObject([
            ("account_id", .string(accountID.rawValue)), ("sub", .string(subject.rawValue)),
        ])
        json["email"] = email.map { .string($0.address) }
        json["is_private_email"] = email?.isPrivate.map { .bool($0) }
        return json
    }
}
