import AppleAccounts
import StorageConformance
import Testing

@testable import PostgresStorage

/// Effects of a sign-in on rows that it has read without a lock.
@Suite struct SeenSubjectsTests {
    private static let rows = PostgresCall(
        PostgresStatement(
            "test_rows", "SELECT string_agg(c::text, ' ' ORDER BY subject_id, app_id) FROM credential AS c"))

    /// Reads five of six users who were stored by one transaction, and applies sign-ins to them. Returns the
    /// calls that write the changes.
    private func look(in session: PostgresSession) throws -> [PostgresCall] {
        let users = (0..<6).map { SubjectKey.sample("user-\($0)") }
        _ = try BatchCommitter(ids: SubjectIDs(), sealing: NoAppleTokenSealing())
            .commit(users.map { .signIn(.sample(key: $0, authorizedAt: 1000)) }, in: session)
        var set = WorkingSet(users.dropFirst().map { .signIn(.sample(key: $0, authorizedAt: 2000)) })
        let keys = try SubjectKeyArrays(set.subjectKeys, session.names)
        let call = try #require(SeenSubjects.call(for: keys))
        let seen = try SeenSubjects(
            try session.run(call), of: keys, into: &set, session.names, in: session)
        #expect(seen.areAllKnown)
        var generator = SystemRandomNumberGenerator()
        _ = set.applyCommands(using: &generator)
        return seen.updateCalls(for: set)
    }

    @Test func `writes what it has seen, if it is still the same`() async throws {
        try await Replicas.with(1) { replicas in
            try await replicas.stores[0].pool.run { session in
                let calls = try look(in: session)
                _ = try session.pipeline(calls)
                let changed = PostgresCall(
                    PostgresStatement(
                        "test_changed", "SELECT count(*) FROM credential WHERE authorized_at = 2000"))
                #expect(try session.run(changed).integer(0, 0) == 5)
            }
        }
    }

    @Test(arguments: [
        ["UPDATE credential SET last_sign_in_at = last_sign_in_at"],
        ["DELETE FROM credential WHERE subject_id = (SELECT max(subject_id) FROM credential)"],
        // Each row is then where another one was, which the same transaction had written.
        [
            "DELETE FROM credential WHERE subject_id = (SELECT min(subject_id) FROM credential)",
            "VACUUM FULL credential",
        ],
    ])
    func `changes nothing when a row is not the one that was seen`(meanwhile: [String]) async throws {
        try await Replicas.with(1) { replicas in
            try await replicas.stores[0].pool.run { session in
                let calls = try look(in: session)
                for script in meanwhile { try session.execute(script: script, name: "meanwhile") }
                let before = try session.run(Self.rows).text(0, 0)
                let error = #expect(throws: PostgresError.self) { _ = try session.pipeline(calls) }
                #expect(error?.sqlState == "40001")
                #expect(try session.run(Self.rows).text(0, 0) == before)
            }
        }
    }
}
