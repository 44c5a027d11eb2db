import AppleAccounts
import Cryptography
import Foundation
import GRDB

/// What a subject is found by: the first 16 bytes of the SHA-256 of its team's number, eight bytes in network
/// order, and its `sub` in UTF-8.
///
/// Two persons practically never have the same one: among a billion it would happen once in 10^20 databases,
/// and to cause it one would have to break SHA-256. The rule must never change.
struct KeyDigest: Equatable, Sendable {
    /// The first eight bytes, the most significant first.
    private let high: UInt64
    /// The last eight bytes.
    private let low: UInt64

    init(team: Int64, name: String) {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(8 + name.utf8.count)
        withUnsafeBytes(of: team.bigEndian) { bytes += $0 }
        bytes += name.utf8
        (high, low) = SHA256Digest.hash(bytes).withUnsafeBytes { $0.halves }
    }

    /// Reads what `data` wrote. Returns `nil` when it is not 16 bytes.
    init?(_ data: Data) {
        guard let halves = UniqueID(data) else { return nil }
        (high, low) = (halves.high, halves.low)
    }

    /// As `subject.key_digest` has it.
    var data: Data { UniqueID(high: high, low: low).data }

    /// The numbers that the rows of its credentials may have: the first 48 bits, and 16 that count.
    ///
    /// So the credentials of a person stand together, and a state query finds them without an index between.
    /// Among ten million people, one pair in five databases has the first 48 bits in common; `check` tells
    /// those two apart.
    var credentialIDs: ClosedRange<Int64> {
        let first = Int64(bitPattern: high & ~0xFFFF)
        return first...first + 0xFFFF
    }

    /// The last 64 bits, as `credential.key_check` has them.
    var check: Int64 { Int64(bitPattern: low) }
}

extension KeyDigest {
    /// The same in SQL, for what changes or joins rows there: `key_digest(team, name)`, and of a digest
    /// `first_credential_id(digest)`, `last_credential_id(digest)` and `key_check(digest)`.
    static let functions = [
        DatabaseFunction("key_digest", argumentCount: 2, pure: true) { values in
            guard let team = Int64.fromDatabaseValue(values[0]),
                let name = String.fromDatabaseValue(values[1])
            else { return nil }
            return KeyDigest(team: team, name: name).data
        },
        function("first_credential_id") { $0.credentialIDs.lowerBound },
        function("last_credential_id") { $0.credentialIDs.upperBound },
        function("key_check") { $0.check },
    ]

    private static func function(
        _ name: String, _ value: @escaping @Sendable (KeyDigest) -> Int64
    ) -> DatabaseFunction {
        DatabaseFunction(name, argumentCount: 1, pure: true) { values in
            Data.fromDatabaseValue(values[0]).flatMap { KeyDigest($0) }.map(value)
        }
    }
}

/// Where a subject stands: the number of its row, and the digest that says where its credentials are.
struct SubjectPlace: Equatable {
    let rowID: Int64
    let digest: KeyDigest
}
