import AppleAccounts
import CLibPQ

/// One session with a server, as a block of store code sees it: synchronous, on its connection's own queue.
///
/// It never leaves the block and is not thread-safe. libpq is kept in its non-blocking and pipeline modes for
/// good: what is sent and what is answered flow at once, so that neither side waits for the other to read,
/// and each wait has an end.
final class PostgresSession {
    var deadlines = SessionDeadlines()
    /// Whether it has run LISTEN. Only the connection for announcements does.
    var isListening = false
    /// It cannot be used any more: the connection is lost, or what comes next on it is unknown.
    private(set) var isBroken = false
    /// Works still, but the next block should have a new one.
    private(set) var isStale = false

    /// The server took no write, or says that it would take none.
    var isReadOnly = false
    /// The server did not answer in time, and may still be at what it was asked.
    private(set) var hasGivenUp = false
    /// The server's process of this session, as the server says. A pooler has other numbers.
    var backend: Backend?
    private var isRehearsing = false
    /// How often something was sent and its answer waited for.
    private(set) var roundTrips = 0

    /// Name numbers read in this session. Not shared: after a failover the new server may assign a lost number
    /// again.
    let names = PostgresNames()

    private let handle: ConnectionHandle
    private let isEncrypted: Bool
    private var parameters = ParameterBuffer()
    /// What was prepared here: name and text.
    private var prepared: [String: String] = [:]

    private static let ping = PostgresCall(PostgresStatement("ping", "SELECT"))

    /// What the server still owes an answer to.
    private enum Owed {
        case preparation(PostgresStatement)
        case rows(PostgresStatement)
    }

    init(_ handle: consuming ConnectionHandle) {
        self.handle = handle
        isEncrypted = PQsslInUse(self.handle.pointer) != 0 || PQgssEncInUse(self.handle.pointer) != 0
        isBroken = PQenterPipelineMode(self.handle.pointer) != 1
    }

    /// Runs one statement in one round trip. Outside of a transaction it is one of its own.
    ///
    /// - Throws: `PostgresError`.
    func run(_ call: PostgresCall) throws -> PostgresRows {
        try pipeline([call])[0]
    }

    /// Runs all of them in one round trip. Outside of a transaction they are one: all or nothing.
    ///
    /// Those behind one that fails do not run.
    /// - Throws: `PostgresError`, the first, after every answer was read.
    func pipeline(_ calls: [PostgresCall]) throws -> [PostgresRows] {
        // A server that was silent once is not waited for again.
        guard !isBroken else { throw lost() }
        guard !calls.isEmpty else { return [] }
        let wait = SocketWait(deadline: .now + deadlines.answer)
        var owed: [Owed] = []
        owed.reserveCapacity(calls.count)
        for call in calls {
            try send(call, &owed)
        }
        guard PQpipelineSync(handle.pointer) == 1 else { throw lost() }
        roundTrips += 1
        return try receive(owed, wait)
    }

    /// Runs a script of several statements, as migrations are. Only between other calls.
    ///
    /// - Throws: `PostgresError`.
    func execute(script: String, name: String) throws {
        guard !isBroken, PQexitPipelineMode(handle.pointer) == 1, PQsendQuery(handle.pointer, script) == 1
        else {
            throw lost()
        }
        let wait = SocketWait(deadline: .now + deadlines.answer)
        var failure: PostgresError?
        while let result = try nextResult(wait) {
            if failure == nil { failure = error(in: result, name) }
        }
        guard PQenterPipelineMode(handle.pointer) == 1 else { throw lost() }
        if let failure { throw failure }
    }

    /// Runs a block whose transactions are rolled back where they would be committed.
    func rehearse(_ body: () throws -> Void) rethrows {
        isRehearsing = true
        defer { isRehearsing = false }
        try body()
    }

    /// Waits for notifications, until there is one or the time is over. Returns what they say.
    ///
    /// - Throws: `PostgresError` when the connection is lost.
    func notifications(before deadline: ContinuousClock.Instant) throws -> [String] {
        var payloads = takeNotifications()
        while payloads.isEmpty {
            switch SocketWait(deadline: deadline).wait(for: PQsocket(handle.pointer)) {
            case .readable: guard takeIn() else { throw lost() }
            case .timedOut: return []
            case .writable, .failed: throw lost()
            }
            payloads = takeNotifications()
        }
        return payloads
    }

    /// Whether a transaction is open, or was broken off.
    var isInTransaction: Bool { PQtransactionStatus(handle.pointer) != PQTRANS_IDLE }

    /// The number of the server's process, as it was said when the session began. A pooler says its own.
    var announcedProcess: Int64 { Int64(PQbackendPID(handle.pointer)) }

    /// What the server said of itself when the session began.
    func parameter(_ name: String) -> String? {
        handle.text { PQparameterStatus($0, name) }
    }

    /// Finds out whether the server has closed it since it was last used. It sends nothing unless data came
    /// in meanwhile, which is usually the reason why the server is about to close the connection.
    func checkIdle() {
        guard !isBroken, SocketWait.isReadable(PQsocket(handle.pointer)) else { return }
        if (try? run(Self.ping)) == nil { isBroken = true }
    }

    /// Ends a transaction that is open or was broken off, if there is one.
    func rollBack() throws {
        if isInTransaction { _ = try run(.rollback) }
    }

    /// Rolls back what a block left open.
    func becomeIdle() {
        guard !isBroken, isInTransaction else { return }
        try? rollBack()
        if isInTransaction { isBroken = true }
    }

    private func send(_ call: PostgresCall, _ owed: inout [Owed]) throws {
        let isCommit = call.statement.name == PostgresCall.commit.statement.name
        let statement = isRehearsing && isCommit ? PostgresCall.rollback.statement : call.statement
        if let sql = prepared[statement.name] {
            precondition(sql == statement.sql, "two statements are called \(statement.name)")
        } else {
            guard PQsendPrepare(handle.pointer, statement.name, statement.sql, 0, nil) == 1 else {
                throw lost()
            }
            owed.append(.preparation(statement))
            // Taken back when it fails. The same statement can stand in a pipeline twice.
            prepared[statement.name] = statement.sql
        }
        do {
            try parameters.fill(call.values)
        } catch {
            // What was sent before it would be answered out of turn.
            isBroken = true
            throw error
        }
        let isSent = parameters.withPointers { values, lengths, formats in
            PQsendQueryPrepared(
                handle.pointer, statement.name, Int32(call.values.count), values, lengths, formats, 1)
        }
        guard isSent == 1 else { throw lost() }
        owed.append(.rows(statement))
    }

    private func receive(_ owed: [Owed], _ wait: SocketWait) throws -> [PostgresRows] {
        var answers: [PostgresRows] = []
        answers.reserveCapacity(owed.count)
        var failure: PostgresError?
        for item in owed {
            guard let result = try nextResult(wait, failure) else { throw lost(failure) }
            let (statement, isPreparation) =
                switch item {
                case .preparation(let statement): (statement, true)
                case .rows(let statement): (statement, false)
                }
            if PQresultStatus(result.pointer) == PGRES_PIPELINE_ABORTED {
                if isPreparation { prepared[statement.name] = nil }
            } else if let error = error(in: result, statement.name) {
                if isPreparation { prepared[statement.name] = nil }
                if failure == nil { failure = error }
            } else if !isPreparation {
                let rows = PostgresRows(result)
                if failure == nil { failure = refusedCommit(statement, rows) }
                answers.append(rows)
            }
            guard try nextResult(wait, failure) == nil else { throw lost(failure) }
        }
        guard let end = try nextResult(wait, failure), PQresultStatus(end.pointer) == PGRES_PIPELINE_SYNC
        else {
            throw lost(failure)
        }
        if let failure {
            if failure.hasStaleStatements { isStale = true }
            if failure.isReadOnly { isReadOnly = true }
            throw failure
        }
        return answers
    }

    /// Returns `nil` at the end of one command's answer. Sends what is still to be sent meanwhile.
    private func nextResult(_ wait: SocketWait, _ failure: PostgresError? = nil) throws -> ResultHandle? {
        while true {
            let unsent = PQflush(handle.pointer)
            guard unsent >= 0 else { throw lost(failure) }
            if PQisBusy(handle.pointer) == 0 { break }
            switch wait.wait(for: PQsocket(handle.pointer), writing: unsent == 1) {
            case .readable: guard takeIn() else { throw lost(failure) }
            case .writable: break
            case .timedOut:
                // To ask the server to cancel would be to wait for it again. It has its own time-outs, but for
                // a commit that waits for a standby: the next session ends that (`AbandonedBackends`).
                hasGivenUp = true
                throw lost(failure, "no answer in time")
            case .failed: throw lost(failure)
            }
        }
        return PQgetResult(handle.pointer).map { ResultHandle(owning: $0) }
    }

    /// Reads what has come. Returns `false` when the connection is lost.
    ///
    /// Of an encrypted connection libpq may read one record off the socket and pass on only the first half of
    /// it, 8 KiB: a wait for the socket would then never end, so the rest is read until the socket is empty,
    /// and once more.
    private func takeIn() -> Bool {
        guard PQconsumeInput(handle.pointer) == 1 else { return false }
        guard isEncrypted else { return true }
        var isMore = true
        while isMore {
            isMore = SocketWait.isReadable(PQsocket(handle.pointer))
            // What was read before a loss still counts: the next waiting finds the loss.
            guard PQconsumeInput(handle.pointer) == 1 else { break }
        }
        return true
    }

    private func error(in result: borrowing ResultHandle, _ statement: String) -> PostgresError? {
        switch PQresultStatus(result.pointer) {
        case PGRES_COMMAND_OK, PGRES_TUPLES_OK: return nil
        default: break
        }
        func field(_ code: UnicodeScalar) -> String? {
            result.text { UnsafePointer(PQresultErrorField($0, Int32(code.value))) }
        }
        // PG_DIAG_SQLSTATE, PG_DIAG_MESSAGE_PRIMARY. libpq gives its own errors no SQLSTATE.
        guard let state = field("C") else { return lost() }
        return PostgresError(sqlState: state, message: field("M") ?? "", statement: statement)
    }

    /// COMMIT answers a transaction that has failed before with ROLLBACK, and calls that no error.
    private func refusedCommit(_ statement: PostgresStatement, _ rows: PostgresRows) -> PostgresError? {
        guard statement.name == PostgresCall.commit.statement.name, rows.tag != "COMMIT" else { return nil }
        return PostgresError(
            sqlState: "25P02", message: "the transaction had failed", statement: statement.name)
    }

    private func lost(_ first: PostgresError? = nil, _ message: String? = nil) -> PostgresError {
        isBroken = true
        return first
            ?? PostgresError(
                sqlState: PostgresError.connectionLost,
                message: message ?? handle.text { UnsafePointer(PQerrorMessage($0)) } ?? "", statement: "")
    }

    private func takeNotifications() -> [String] {
        var payloads: [String] = []
        while let notification = PQnotifies(handle.pointer) {
            payloads.append(notification.pointee.extra.map { String(cString: $0) } ?? "")
            PQfreemem(notification)
        }
        return payloads
    }
}
