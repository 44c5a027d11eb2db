import AppleAccounts
import CLibPQ
import Foundation

/// One server session, as a block of store code sees it: synchronous, on its connection's own queue.
///
/// A session never leaves the block and is not thread-safe. libpq always stays in its non-blocking and
/// pipeline modes: requests and responses flow at the same time, so neither side waits for the other to read,
/// and every wait has a deadline.
final class PostgresSession {
    var deadlines = SessionDeadlines()
    /// True once LISTEN has run. Only the announcement connection runs it.
    var isListening = false
    /// True if the session can no longer be used, because the connection is lost or the next response is
    /// unknown.
    private(set) var isBroken = false
    /// True if the session still works, but the next block should get a new session.
    private(set) var isStale = false

    /// True if the server has refused a write, or reports that it refuses writes.
    var isReadOnly = false
    /// True if the server did not respond in time, and may still be running the statement.
    private(set) var hasGivenUp = false
    /// The session's server process, as the server reports it. Poolers report other numbers.
    var backend: Backend?
    private var isRehearsing = false
    /// Number of round trips: requests whose response the session has waited for.
    private(set) var roundTrips = 0

    /// Numbers of names, as read by this session. Sessions do not share them, because after a failover the
    /// new server may assign a lost number again.
    let names = PostgresNames()

    private let handle: ConnectionHandle
    private let isEncrypted: Bool
    private var parameters = ParameterBuffer()
    /// Statements prepared in this session, as text by name.
    private var prepared: [String: String] = [:]

    private static let ping = PostgresCall(PostgresStatement("ping", "SELECT"))

    /// A response that the server has not sent yet.
    private enum Owed {
        case preparation(PostgresStatement)
        case rows(PostgresStatement)
    }

    init(_ handle: consuming ConnectionHandle) {
        self.handle = handle
        isEncrypted = PQsslInUse(self.handle.pointer) != 0 || PQgssEncInUse(self.handle.pointer) != 0
        isBroken = PQenterPipelineMode(self.handle.pointer) != 1
    }

    /// Runs one statement in one round trip. Outside a transaction, the statement is its own transaction.
    ///
    /// - Throws: `PostgresError` if a statement or the connection fails.
    func run(_ call: PostgresCall) throws -> PostgresRows {
        try pipeline([call])[0]
    }

    /// Runs all calls in one round trip. Outside a transaction, the calls form one transaction: all or
    /// nothing.
    ///
    /// Calls that follow a failed call do not run.
    /// - Throws: `PostgresError`: the first error, once every response has been read.
    func pipeline(_ calls: [PostgresCall]) throws -> [PostgresRows] {
        // The session never waits a second time for a server that did not respond.
        guard !isBroken else { throw lost() }
        guard !calls.isEmpty else { return [] }
        let wait = SocketWait(deadline: .now + deadlines.response)
        var owed: [Owed] = []
        owed.reserveCapacity(calls.count)
        for call in calls {
            try send(call, &owed)
        }
        guard PQpipelineSync(handle.pointer) == 1 else { throw lost() }
        roundTrips += 1
        return try receive(owed, wait)
    }

    /// Runs a script of several statements, such as a migration. Must not run while other calls are pending.
    ///
    /// - Throws: `PostgresError` if a statement or the connection fails.
    func execute(script: String, name: String) throws {
        guard !isBroken, PQexitPipelineMode(handle.pointer) == 1, PQsendQuery(handle.pointer, script) == 1
        else {
            throw lost()
        }
        let wait = SocketWait(deadline: .now + deadlines.response)
        var failure: PostgresError?
        while let result = try nextResult(wait) {
            if failure == nil { failure = error(in: result, name) }
        }
        guard PQenterPipelineMode(handle.pointer) == 1 else { throw lost() }
        if let failure { throw failure }
    }

    /// Runs a block whose transactions are rolled back instead of committed.
    func rehearse(_ body: () throws -> Void) rethrows {
        isRehearsing = true
        defer { isRehearsing = false }
        try body()
    }

    /// Waits until a notification arrives or the deadline passes. Returns the arrived payloads.
    ///
    /// - Throws: `PostgresError` if the connection is lost.
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

    /// True while a transaction is open, including a failed one.
    var isInTransaction: Bool { PQtransactionStatus(handle.pointer) != PQTRANS_IDLE }

    /// The server process's number, as reported when the session started. A pooler reports its own number.
    var announcedProcess: Int64 { Int64(PQbackendPID(handle.pointer)) }

    /// Returns a parameter that the server reported when the session started.
    func parameter(_ name: String) -> String? {
        handle.text { PQparameterStatus($0, name) }
    }

    /// Checks whether the server has closed the connection since its last use, without sending anything. If
    /// data has arrived since, it usually contains the reason why the server is about to close the
    /// connection.
    func checkIdle() {
        guard !isBroken, SocketWait.isReadable(PQsocket(handle.pointer)) else { return }
        if (try? run(Self.ping)) == nil { isBroken = true }
    }

    /// Ends the open or failed transaction, if there is one.
    func rollBack() throws {
        if isInTransaction { _ = try run(.rollback) }
    }

    /// Rolls back a transaction that a block left open.
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
            // The name is removed again if preparation fails. It is set now because a statement can occur
            // twice in a pipeline.
            prepared[statement.name] = statement.sql
        }
        do {
            try parameters.fill(call.values)
        } catch {
            // Responses to this pipeline's earlier calls may still arrive, and would be matched to the wrong calls.
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
        var responses: [PostgresRows] = []
        responses.reserveCapacity(owed.count)
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
                responses.append(rows)
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
        return responses
    }

    /// Returns `nil` at the end of a command's response. While waiting, it sends the remaining requests.
    private func nextResult(_ wait: SocketWait, _ failure: PostgresError? = nil) throws -> ResultHandle? {
        while true {
            let unsent = PQflush(handle.pointer)
            guard unsent >= 0 else { throw lost(failure) }
            if PQisBusy(handle.pointer) == 0 { break }
            switch wait.wait(for: PQsocket(handle.pointer), writing: unsent == 1) {
            case .readable: guard takeIn() else { throw lost(failure) }
            case .writable: break
            case .timedOut:
                // The session sends no cancel request, because the request would need another response from
                // the server. The server has its own time-outs, except for a commit that waits for a standby;
                // another session terminates that process (`AbandonedBackends`).
                hasGivenUp = true
                throw lost(failure, PostgresError.noAnswer)
            case .failed: throw lost(failure)
            }
        }
        return PQgetResult(handle.pointer).map { ResultHandle(owning: $0) }
    }

    /// Reads the data that has arrived. Returns `false` if the connection is lost.
    ///
    /// On an encrypted connection, libpq may read one record from the socket and return only its first half,
    /// 8 KiB. A wait for the socket would then never end, so this function reads until the socket is empty,
    /// and then once more.
    private func takeIn() -> Bool {
        guard PQconsumeInput(handle.pointer) == 1 else { return false }
        guard isEncrypted else { return true }
        var isMore = true
        while isMore {
            isMore = SocketWait.isReadable(PQsocket(handle.pointer))
            // Data that arrived before a loss is still used; the next wait finds the loss.
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
        // PG_DIAG_SQLSTATE, PG_DIAG_MESSAGE_PRIMARY. libpq's own errors have no SQLSTATE.
        guard let state = field("C") else { return lost() }
        return PostgresError(sqlState: state, message: field("M") ?? "", statement: statement)
    }

    /// Returns an error if COMMIT responded with ROLLBACK, because after an earlier failure in the
    /// transaction, PostgreSQL reports no error for the COMMIT.
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

extension PostgresSession {
    /// Maximum number of attempts for a batch that conflicts with another replica or with a row that the
    /// replica has just inserted.
    private static let mostAttempts = 5

    /// Repeats a transaction from its beginning if it conflicts with another replica or with a row that the
    /// replica has just inserted.
    ///
    /// - Parameter onConflict: Called before the next attempt.
    func repeatingConflicts<Value>(
        onConflict: (PostgresError) -> Void = { _ in }, transaction: () throws -> Value
    ) throws -> Value {
        for _ in 1..<Self.mostAttempts {
            do {
                return try transaction()
            } catch let error as PostgresError where error.isWorthRepeating {
                onConflict(error)
                try rollBack()
            }
        }
        return try transaction()
    }

    /// Runs `body`. If it throws, no transaction stays open.
    func rollingBackFailures<Value>(_ body: () throws -> Value) throws -> Value {
        do {
            return try body()
        } catch {
            try? rollBack()
            throw error
        }
    }
}

/// The maximum times that a session waits for a server, by the session's own clock.
struct SessionDeadlines: Sendable {
    /// Time limit for all responses in one round trip. The server's own statement time-out is shorter, so
    /// this deadline passes only if the server does not respond at all.
    var response: Duration = .seconds(10)

    /// - Parameter statementTimeout: The server's statement time-out in milliseconds; 0 if it has none.
    init(statementTimeout: Int64 = 5000) {
        guard statementTimeout > 0 else {
            response = .seconds(60)
            return
        }
        response = max(.seconds(10), .milliseconds(min(statementTimeout, 3_600_000)) * 2)
    }
}

/// Waits for a socket, at most until a deadline.
///
/// libpq's own waits have no limit, so an unresponsive server, or a network that drops every packet, would
/// block the thread forever. TCP keep-alive does not help against such a server.
struct SocketWait {
    let deadline: ContinuousClock.Instant

    enum Outcome { case readable, writable, timedOut, failed }

    /// - Parameter writing: If true, also returns when the socket has room to send.
    func wait(for descriptor: Int32, writing: Bool = false) -> Outcome {
        guard descriptor >= 0 else { return .failed }
        var entry = pollfd(
            fd: descriptor, events: Int16(POLLIN) | (writing ? Int16(POLLOUT) : 0), revents: 0)
        while true {
            let ready = poll(&entry, 1, milliseconds())
            if ready > 0 {
                // An error and the peer's end of stream count as readable, because the caller must read them.
                return entry.revents & ~Int16(POLLOUT) != 0 ? .readable : .writable
            }
            if ready == 0 {
                if ContinuousClock.now >= deadline { return .timedOut }
            } else if errno != EINTR {
                return .failed
            }
        }
    }

    /// Returns true if data can be read now.
    static func isReadable(_ descriptor: Int32) -> Bool {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&entry, 1, 0) != 0
    }

    /// Returns the remaining time, rounded up so that the last wait is not a busy wait.
    private func milliseconds() -> Int32 {
        let left = ContinuousClock.now.duration(to: deadline) / .milliseconds(1)
        return Int32(min(max(left.rounded(.up), 0), 60_000))
    }
}
