import AppleAccounts
import Logging
import PostgresCluster
import TestSupport
import Testing

@testable import PostgresStorage

/// Texts of PostgreSQL's errors: values that they have, and values that they never have.
@Suite struct StorageErrorTests {
    @Test func `never says the password, whatever is wrong`() async throws {
        let cluster = try await PostgresCluster.shared()
        let url = try await cluster.makeDatabase()
        let name = url.split(separator: "/").last.map(String.init) ?? ""
        let wrong = cluster.url(of: name, password: "not-the-horse")
        for url in [wrong, wrong + "?sslmode=require", wrong + "?sslrootcert=/nowhere&sslmode=verify-full"] {
            let error = await #expect(throws: StorageError.self) {
                _ = try await PostgresDatabase.open(url: url, patience: .zero, logger: .silent)
            }
            #expect(error?.code == .unavailable)
            #expect(error?.debugDescription.contains("horse") == false)
        }
    }

    @Test(
        arguments: [
            ("FATAL:  could not write init file", .full),
            ("FATAL:  could not create file: No space left on device", .full),
            ("Connection refused", .unavailable),
            ("FATAL:  the database system is starting up", .unavailable),
        ] as [(String, StorageError.Code)])
    func `knows a full disk by what the server says to a new session`(
        message: String, expected: StorageError.Code
    ) {
        #expect(
            StorageError(PostgresError.refused("connection to server failed: \(message)\n")).code == expected)
    }

    @Test(
        arguments: [
            ("08006", .unavailable), ("57P01", .unavailable), ("57P03", .unavailable),
            ("28P01", .unavailable),
            ("53300", .busy), ("57014", .busy), ("55P03", .busy), ("40001", .busy), ("40P01", .busy),
            ("53100", .full), ("25006", .readOnly), ("XX001", .corrupted), ("XX002", .corrupted),
            ("23502", .corrupted), ("22021", .valueRefused), ("23514", .valueRefused),
            ("54000", .valueRefused),
            ("42P01", .unavailable), ("58030", .unavailable), ("XX000", .unavailable),
        ] as [(String, StorageError.Code)])
    func `says what a SQLSTATE means`(state: String, expected: StorageError.Code) {
        #expect(StorageError.Code(sqlState: state) == expected)
        // A commit has no values that could be refused.
        let atCommit = StorageError(PostgresError(sqlState: state, message: "", statement: "commit"))
        #expect(atCommit.code == (expected == .valueRefused ? .unavailable : expected))
    }
}
