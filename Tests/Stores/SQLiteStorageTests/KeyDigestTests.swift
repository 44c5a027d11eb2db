import AppleAccounts
import Foundation
import GRDB
import StorageConformance
import Testing

@testable import SQLiteStorage

@Suite struct KeyDigestTests {
    // printf '\0\0\0\0\0\0\0\1%s' 001234.abc.0567 | sha256sum | cut -c 1-32
    private static let known = "2742a9117543238dd13c3a73d69149a6"

    @Test func `has the value that databases hold`() throws {
        let digest = KeyDigest(team: 1, name: "001234.abc.0567")
        let hexadecimal = digest.data.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }
        #expect(hexadecimal.joined() == Self.known)
        #expect(digest.credentialIDs == 0x2742_a911_7543_0000...0x2742_a911_7543_ffff)
        #expect(digest.check == Int64(bitPattern: 0xd13c_3a73_d691_49a6))
        #expect(KeyDigest(digest.data) == digest)
        #expect(KeyDigest(digest.data + [0]) == nil)
        #expect(KeyDigest(team: 2, name: "001234.abc.0567") != digest)
    }

    @Test(
        arguments: [
            (0x0000_0000_0000_0001, 0...0xffff), (0x7fff_ffff_ffff_0000, Int64.max - 0xffff...Int64.max),
            (0x8000_0000_0000_ffff, Int64.min...Int64.min + 0xffff), (0xffff_ffff_ffff_1234, -0x10000...(-1)),
        ] as [(UInt64, ClosedRange<Int64>)])
    func `has numbers for credentials, whatever it begins with`(high: UInt64, ids: ClosedRange<Int64>) throws
    {
        for low in [0, 1, 1 << 63, UInt64.max] {
            let digest = try #require(KeyDigest(UniqueID(high: high, low: low).data))
            #expect(digest.credentialIDs == ids)
            #expect(digest.check == Int64(truncatingIfNeeded: low))
        }
    }

    @Test(arguments: ["a", "\u{1}7", "Élodie", String(repeating: "x", count: 255)])
    func `is the same in SQL`(name: String) throws {
        let file = try TemporaryDatabase()
        let queue = try DatabaseQueue(path: file.path, configuration: .writing(patience: 1))
        let digest = KeyDigest(team: 7, name: name)
        let row = try queue.read { database in
            try Row.fetchOne(
                database,
                sql: """
                    SELECT digest, first_credential_id(digest), last_credential_id(digest), key_check(digest),
                        first_credential_id(NULL), key_check(x'00')
                    FROM (SELECT key_digest(7, ?) AS digest)
                    """,
                arguments: [name])
        }
        let ids = digest.credentialIDs
        #expect(
            row == [
                "digest": digest.data, "first_credential_id(digest)": ids.lowerBound,
                "last_credential_id(digest)": ids.upperBound, "key_check(digest)": digest.check,
                "first_credential_id(NULL)": nil, "key_check(x'00')": nil,
            ])
    }
}
