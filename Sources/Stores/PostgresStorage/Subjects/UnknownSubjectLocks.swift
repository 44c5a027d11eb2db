import AppleAccounts
import SQLTables

/// The locks of users without a row that could be locked.
///
/// A subject has at most one row, because its name is unique. While a transaction holds the row's lock, no
/// other transaction can erase or rename the subject, nor insert a second row of the same name. A name
/// without a row has an advisory lock instead, and the rule is: **only a transaction that holds the name's
/// lock gives the name a row.** Sign-ins, notifications and transfers do this. An erasure or a transfer that
/// takes the name away from a row holds the row's lock, which is enough; it also holds the name's lock when
/// the name is the subject of a command.
///
/// A batch therefore locks the names without a row, then reads the rows with a lock, then the tombstones,
/// each in a statement that begins when the previous statement has all of its locks, and so sees the commits
/// that the previous statement waited for:
///
/// - The row exists: it is locked, and stays unchanged until the commit.
/// - The row does not exist, and the name is locked: no other transaction can insert a row, so the name has
///   no row until the commit. An erasure that removed the row must have committed before, so its tombstone is
///   seen.
/// - The row does not exist, and the name is not locked, because the row existed when the names were looked
///   up: nothing protects the name, and the batch is repeated.
///
/// All locks of names are taken by the first statement of a transaction, in the order of their numbers, and
/// before any lock of a row. So a transaction that waits for a name holds only names of lower numbers, and no
/// cycle of waiting transactions is possible.
enum UnknownSubjectLocks {
    /// Number of locks for all names. PostgreSQL keeps locks in a table for the whole server, with room for
    /// `max_locks_per_transaction` (64) times `max_connections` (100): a flood of new users must not fill it.
    /// Two batches can wait for each other without need: rarely with few new users, and with very many they
    /// would wait for each other at the event counter anyway.
    static let count: UInt64 = 1024

    /// "siwa" in ASCII. The first of the two numbers that name a lock.
    private static let space = 0x7369_7761

    private struct LockUnknown {
        let statement: TypedStatement<[Int64?], [String?], [Int64]>
        let place: Column<Int64>

        init() {
            var list = SelectList()
            let place = list.add("k.place", Int64.self, as: "place")
            statement = TypedStatement("lock_unknown_subjects") { teams, names, numbers in
                """
                SELECT \(list), pg_advisory_xact_lock(\(space), k.number::integer)
                FROM (
                    SELECT k.place, k.number
                    FROM unnest(\(teams), \(names), \(numbers))
                        WITH ORDINALITY AS k (team_id, sub, number, place)
                    LEFT JOIN LATERAL (
                        SELECT id FROM subject WHERE team_id = k.team_id::integer AND sub = k.sub OFFSET 0)
                        AS known ON true
                    WHERE known.id IS NULL
                    ORDER BY k.number) AS k
                """
            }
            self.place = place
        }
    }

    private static let lockUnknownStatement = LockUnknown()
    private static let lockAllStatement = TypedStatement<[Int64]>("lock_all_subjects") { numbers in
        "SELECT pg_advisory_xact_lock(\(space), k.number::integer) FROM unnest(\(numbers)) AS k (number)"
    }

    /// Locks the names without a row.
    static func lockUnknown(_ keys: SubjectKeyArrays) -> PostgresCall {
        lockUnknownStatement.statement(keys.teamNumbers, keys.names, keys.lockNumbers)
    }

    /// Returns the places of the names without a row, from the result of `lockUnknown`, counted from 1.
    static func places(in rows: PostgresRows) -> [Int64?] { rows.map { $0[lockUnknownStatement.place] } }

    /// Locks all names, for a batch with commands that change the row of a name.
    static func lockAll(_ keys: SubjectKeyArrays) -> PostgresCall {
        lockAllStatement(Set(keys.lockNumbers).sorted())
    }

    /// Returns a number that is the same in every replica of every version: the 64-bit FNV-1a hash of team,
    /// line feed and `sub`, followed by the last steps of SplitMix64. Without these steps, names that differ
    /// only in their last characters share few numbers.
    static func number(of key: SubjectKey) -> Int64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        func add(_ byte: UInt8) { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        for byte in key.team.rawValue.utf8 { add(byte) }
        add(UInt8(ascii: "\n"))
        for byte in key.subject.rawValue.utf8 { add(byte) }
        hash = (hash ^ (hash >> 30)) &* 0xBF58_476D_1CE4_E5B9
        hash = (hash ^ (hash >> 27)) &* 0x94D0_49BB_1331_11EB
        return Int64((hash ^ (hash >> 31)) % count)
    }
}
