import AppleAccounts
import PostgresCluster
import Testing

@testable import PostgresStorage

/// TLS as requested in the URL.
@Suite struct EncryptionTests {
    private static let isEncrypted = PostgresCall(
        PostgresStatement("test_tls", "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()"))

    private func isEncrypted(_ url: String) async throws -> Bool? {
        let pool = PostgresPool(try PostgresURL(url), connections: 1)
        do {
            let isEncrypted = try await pool.run { try $0.run(Self.isEncrypted).boolean(0, 0) }
            // Also when more is sent than fits into one record.
            let text = String(repeating: "x", count: 1 << 20)
            let echo = PostgresCall(PostgresStatement("test_echo", "SELECT $1::text"), [.text(text)])
            #expect(try await pool.run { try $0.pipeline([echo, echo, echo])[2].text(0, 0) } == text)
            await pool.close()
            return isEncrypted
        } catch {
            await pool.close()
            throw error
        }
    }

    @Test func `encrypts, and talks to no server whose certificate is not the right one`() async throws {
        let cluster = try await PostgresCluster.start(fsync: false, ssl: true)
        let stranger = try await PostgresCluster.start(fsync: false, ssl: true)
        let authority = try #require(cluster.certificateAuthority)
        let other = try #require(stranger.certificateAuthority)
        let url = try await cluster.makeDatabase()
        #expect(try await isEncrypted(url + "?sslmode=require") == true)
        #expect(try await isEncrypted(url + "?sslmode=disable") == false)
        #expect(try await isEncrypted(url + "?sslmode=verify-full&sslrootcert=\(authority)") == true)
        let byAddress = url.replacing("@localhost:", with: "@127.0.0.1:")
        #expect(try await isEncrypted(byAddress + "?sslmode=verify-ca&sslrootcert=\(authority)") == true)
        for wrong in [
            url + "?sslmode=verify-full&sslrootcert=\(other)",
            byAddress + "?sslmode=verify-full&sslrootcert=\(authority)",
            url + "?sslmode=verify-full&sslrootcert=/nowhere",
        ] {
            await #expect(throws: StorageError(.unavailable, detail: "")) { _ = try await isEncrypted(wrong) }
        }
        try await stranger.remove()
        try await cluster.remove()
    }

    @Test func `talks to no server without TLS when the URL wants it`() async throws {
        let url = try await PostgresCluster.shared().makeDatabase()
        await #expect(throws: StorageError(.unavailable, detail: "")) {
            _ = try await isEncrypted(url + "?sslmode=require")
        }
    }
}
