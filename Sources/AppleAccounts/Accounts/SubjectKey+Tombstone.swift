import Cryptography
import Encodings

extension SubjectKey {
    /// What stands in the place of the `sub` once the person was erased: U+0001, which no `sub` can have, and
    /// the SHA-256 of team, line feed and `sub`. Whoever knows the `sub` finds it; nobody gets the `sub` back
    /// from it.
    public var tombstoneName: String {
        let bytes = Array(team.rawValue.utf8) + [UInt8(ascii: "\n")] + Array(subject.rawValue.utf8)
        return "\u{1}" + Hexadecimal.encode(SHA256Digest.hash(bytes))
    }
}
