import AppleAccounts
import SQLTables
import Synchronization

/// Server processes that sessions have given up on. Each process stays listed until another session
/// terminates it. The pool opens a session for this purpose immediately. If the server cannot be reached, the
/// next session terminates the process.
///
/// A commit that waits for a standby ends by itself only when the standby is back. Neither a time limit nor a
/// closed connection ends it. It keeps its locks and its slot among `max_connections`, and each retry would
/// add another such process. Terminating the process commits its writes on this server, as after a crash.
final class AbandonedBackends: Sendable {
    /// Maximum length of the list, larger than a pool. Any further processes are left to the server.
    private static let most = 64

    private static let terminate = TypedQuery<
        (waitsForStandby: Column<Bool>, standbys: Column<String>), [Int64], [Int64]
    >("end_abandoned") {
        (
            $0.add("coalesce(bool_or(waited.wait_event = 'SyncRep'), false)", Bool.self, as: "waits"),
            $0.add("current_setting('synchronous_standby_names')", String.self, as: "standbys")
        )
    } sql: { list, processes, times in
        """
        WITH waited AS MATERIALIZED (
            SELECT a.pid, a.wait_event FROM unnest(\(processes), \(times)) AS gone (pid, began)
            JOIN pg_stat_activity AS a
                ON a.pid = gone.pid AND \(Backend.began("a.backend_start")) = gone.began)
        SELECT \(list), count(pg_terminate_backend(waited.pid)) FROM waited
        """
    }

    private let backends = Mutex<[Backend]>([])
    private let standbys = Mutex<String?>(nil)

    /// The `synchronous_standby_names` setting, if the last terminated processes waited for a standby.
    var lostStandbys: String? { standbys.withLock { $0 } }

    var isEmpty: Bool { backends.withLock(\.isEmpty) }

    func add(_ backend: Backend) {
        standbys.withLock { $0 = nil }
        backends.withLock { if $0.count < Self.most { $0.append(backend) } }
    }

    /// Terminates the processes from a session with the same role. If the query fails, keeps the processes so
    /// that the next session can try again.
    func end(in session: PostgresSession) {
        let all = backends.withLock { backends in
            defer { backends = [] }
            return backends
        }
        guard !all.isEmpty else { return }
        do {
            let call = Self.terminate.statement(all.map(\.process), all.map(\.began))
            let row = try session.run(call).first
            let waits = row?[Self.terminate.columns.waitsForStandby] ?? false
            standbys.withLock { $0 = waits ? row?[Self.terminate.columns.standbys] : nil }
        } catch {
            for backend in all { add(backend) }
        }
    }
}

/// A server process. The system reuses process numbers, so the start time is part of the identity.
struct Backend: Sendable, Hashable {
    let process: Int64
    /// The process's start time, in microseconds since 1970.
    let began: Int64

    /// Returns the SQL expression that computes `began` from a timestamp.
    static func began(_ time: String) -> String { "(extract(epoch FROM \(time)) * 1000000)::bigint" }
}
