import GRDB

@testable import SQLiteStorage

extension TemporaryDatabase {
    /// The numbers of credentials that are not at the place of their users' digests.
    func misplacedCredentials() async throws -> [Int64] {
        try await DatabaseQueue(path: path, configuration: .reading()).read { database in
            try Int64.fetchAll(
                database,
                sql: """
                    SELECT c.id FROM credential c JOIN subject s ON s.id = c.subject_id
                    WHERE c.id NOT BETWEEN first_credential_id(s.key_digest) AND last_credential_id(s.key_digest)
                        OR c.key_check != key_check(s.key_digest)
                    """)
        }
    }
}
