import AppleAccounts

/// The subjects of a batch in the order in which all replicas lock them, as arrays for a statement.
struct SubjectKeyArrays {
    /// Position of each subject in the batch.
    let positions: [Int]
    private let keys: [SubjectKey]
    /// In this order: the numbers of the teams, the names of the teams, and the `sub` of each.
    let teamNumbers: [Int64?]
    let teams: [String?]
    let names: [String?]

    init(_ keys: [SubjectKey], _ tables: PostgresNames) throws {
        let order = keys.indices.sorted { keys[$0] < keys[$1] }
        positions = order
        self.keys = keys
        teamNumbers = try order.map { try tables.teams.ensuredNumber(of: keys[$0].team) }
        teams = order.map { keys[$0].team.rawValue }
        names = order.map { keys[$0].subject.rawValue }
    }

    var isEmpty: Bool { positions.isEmpty }

    /// Numbers of the locks that protect the subjects while they have no row.
    var lockNumbers: [Int64] { positions.map { UnknownSubjectLocks.number(of: keys[$0]) } }

    /// Returns the position in the batch for a place in a result, which PostgreSQL counts from 1.
    func position(_ place: Int64?) -> Int { positions[Int(place ?? 0) - 1] }
}

/// SQL that finds the tombstone of an erased user.
enum Tombstones {
    /// `SubjectKey.tombstoneName` in SQL, so that it is computed only for users without a row.
    static func name(team: String, sub: String) -> String {
        "chr(1) || encode(sha256(convert_to(\(team) || chr(10) || \(sub), 'UTF8')), 'hex')"
    }
}
