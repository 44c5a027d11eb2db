import AppleAccounts
import Cryptography
import Foundation
import GRDB

/// A subject's look-up digest: the first 16 bytes of the SHA-256 of its team number (eight bytes in network
/// order) and its `sub` in UTF-8.
///
/// Two users practically never share a digest: with a billion users, it would happen in one of 10^20
/// databases, and an attacker would have to break SHA-256 to cause it. The rule must never change.
struct KeyDigest: Equatable, Sendable {
    /// The first eight bytes, most significant first.
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

    /// Reads the digest from `data`. Returns `nil` unless `data` has 16 bytes.
    init?(_ data: Data) {
        guard let halves = UniqueID(data) else { return nil }
        (high, low) = (halves.high, halves.low)
    }

    /// The value of `subject.key_digest`.
    var data: Data { UniqueID(high: high, low: low).data }

    /// The possible row numbers of the subject's credentials: the first 48 bits of the digest, followed by a
    /// 16-bit counter.
    ///
    /// A user's credentials are therefore adjacent, so a state query finds them without an index. With ten
    /// million users, one database in five has two users with the same 48 bits; `check` tells them apart.
    var credentialIDs: ClosedRange<Int64> {
        let first = Int64(bitPattern: high & ~0xFFFF)
        return first...first + 0xFFFF
    }

    /// The last 64 bits, stored in `credential.key_check`.
    var check: Int64 { Int64(bitPattern: low) }
}

extension KeyDigest {
    /// SQL functions for digests, used by statements that change or join rows: `key_digest(team, name)`, and
    /// for a digest `first_credential_id(digest)`, `last_credential_id(digest)` and `key_check(digest)`.
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

/// A subject's location: its row number, and the digest that locates its credentials.
struct SubjectPlace: Equatable {
    let rowID: Int64
    let digest: KeyDigest
}

extension UniqueID {
    /// Creates the ID from 16 bytes. Returns `nil` for any other number of bytes.
    init?(_ data: Data) {
        guard data.count == 16 else { return nil }
        let (high, low) = data.withUnsafeBytes { $0.halves }
        self.init(high: high, low: low)
    }

    /// The ID as 16 bytes, most significant first, so that IDs sort like PostgreSQL's `uuid`.
    var data: Data {
        withUnsafeBytes(of: (high.bigEndian, low.bigEndian)) { Data($0) }
    }
}

extension UnsafeRawBufferPointer {
    /// The first 16 bytes as two numbers, most significant byte first. At least 16 bytes are required.
    var halves: (high: UInt64, low: UInt64) {
        (
            UInt64(bigEndian: loadUnaligned(as: UInt64.self)),
            UInt64(bigEndian: loadUnaligned(fromByteOffset: 8, as: UInt64.self))
        )
    }
}
