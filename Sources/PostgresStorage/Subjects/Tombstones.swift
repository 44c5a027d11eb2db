/// How a statement finds the tombstone of a person who was erased.
enum Tombstones {
    /// `SubjectKey.tombstoneName` in SQL, so that it is computed only for persons who are not found.
    static func name(team: String, sub: String) -> String {
        "chr(1) || encode(sha256(convert_to(\(team) || chr(10) || \(sub), 'UTF8')), 'hex')"
    }
}
