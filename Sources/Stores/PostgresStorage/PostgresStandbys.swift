import SQLTables

/// The standbys of a PostgreSQL server, as far as the role of this session may see them (PostgreSQL's manual,
/// "Streaming Replication").
public struct PostgresStandbys: Sendable, Equatable {
    /// Setting `synchronous_standby_names`. Empty when commits wait for no standby.
    public var wanted: String
    /// Number of connected standbys.
    public var connected: Int
    /// Number of connected standbys that commits wait for; `nil` when the role may not see it. PostgreSQL
    /// shows it to members of `pg_monitor`.
    public var synchronous: Int?

    public init(wanted: String = "", connected: Int = 0, synchronous: Int? = 0) {
        (self.wanted, self.connected, self.synchronous) = (wanted, connected, synchronous)
    }

    /// Number of standbys that a commit waits for, by the setting: `FIRST 2 (a, b, c)`, `ANY 1 (*)`,
    /// `2 (a, b)` or a list of names, which means one.
    public var required: Int {
        guard !wanted.isEmpty else { return 0 }
        let words = wanted.prefix { $0 != "(" }.split(whereSeparator: \.isWhitespace)
        return wanted.contains("(") ? words.last.flatMap { Int($0) } ?? 1 : 1
    }
}

extension PostgresStandbys {
    private struct Read {
        let call: PostgresCall
        let wanted: Column<String>
        let connected: Column<Int64>
        let synchronous: Column<Int64>
        let isHidden: Column<Bool>

        init() {
            var list = SelectList()
            wanted = list.add("current_setting('synchronous_standby_names')", String.self, as: "wanted")
            connected = list.add("count(*)", Int64.self, as: "connected")
            synchronous = list.add(
                "count(*) FILTER (WHERE sync_state IN ('sync', 'quorum'))", Int64.self, as: "synchronous")
            isHidden = list.add("coalesce(bool_or(sync_state IS NULL), false)", Bool.self, as: "is_hidden")
            call = PostgresCall(
                PostgresStatement("read_standbys", "SELECT \(list) FROM pg_stat_replication"))
        }
    }

    private static let read = Read()

    /// Reads the standbys of the server of this session.
    init(_ session: PostgresSession) throws {
        let rows = try session.run(Self.read.call)
        let (row, read) = (rows[0], Self.read)
        let isHidden = row[read.isHidden] ?? true
        self.init(
            wanted: row[read.wanted] ?? "", connected: Int(row[read.connected] ?? 0),
            synchronous: isHidden ? nil : row[read.synchronous].map { Int($0) })
    }
}
