/// How a statement finds what is left of somebody who was erased.
enum Tombstones {
    /// `SubjectKey.tombstoneName` in SQL, so that it is worked out only for those who are not found.
    static func name(team: String, sub: String) -> String {
        "chr(1) || encode(sha256(convert_to(\(team) || chr(10) || \(sub), 'UTF8')), 'hex')"
    }
}
