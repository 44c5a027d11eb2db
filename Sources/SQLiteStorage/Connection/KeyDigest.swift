import AppleAccounts
import Foundation
import GRDB
import JOSE

/// What a subject is found by: the first 16 bytes of the SHA-256 of its team's number, eight bytes in network order,
/// and its `sub` in UTF-8.
///
/// No two people have the same: among a billion that would happen once in 10^20 databases, and nobody can bring it
/// about without undoing SHA-256. The rule must never change.
enum KeyDigest {
    static func make(team: Int64, name: String) -> Data {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(8 + name.utf8.count)
        withUnsafeBytes(of: team.bigEndian) { bytes += $0 }
        bytes += name.utf8
        return Data(SHA256Digest.hash(bytes).prefix(16))
    }

    /// The same in SQL, for what changes rows there.
    static let function = DatabaseFunction("key_digest", argumentCount: 2, pure: true) { values in
        guard let team = Int64.fromDatabaseValue(values[0]), let name = String.fromDatabaseValue(values[1])
        else { return nil }
        return make(team: team, name: name)
    }
}
