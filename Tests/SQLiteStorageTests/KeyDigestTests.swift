import Foundation
import GRDB
import Testing

@testable import SQLiteStorage

@Suite struct KeyDigestTests {
    @Test func `has the value that databases hold`() throws {
        // printf '\0\0\0\0\0\0\0\1%s' 001234.abc.0567 | sha256sum | cut -c 1-32
        let digest = KeyDigest.make(team: 1, name: "001234.abc.0567")
        let hexadecimal = digest.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }
        #expect(hexadecimal.joined() == "2742a9117543238dd13c3a73d69149a6")
        #expect(KeyDigest.make(team: 2, name: "001234.abc.0567") != digest)
    }

    @Test func `is the same in SQL`() throws {
        let file = try TemporaryDatabase()
        let queue = try DatabaseQueue(path: file.path, configuration: .writing(patience: 1))
        for name in ["a", "\u{1}7", "Élodie", String(repeating: "x", count: 255)] {
            let inSQL = try queue.read { database in
                try Data.fetchOne(database, sql: "SELECT key_digest(?, ?)", arguments: [7, name])
            }
            #expect(inSQL == KeyDigest.make(team: 7, name: name))
        }
    }
}
