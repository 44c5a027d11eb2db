import PostgresCluster
import PostgresStorage
import Testing

@Suite struct PostgresRefusalTests {
    private static func refusal(_ url: String) throws -> PostgresRefusal? {
        PostgresRefusal.find(at: try PostgresAddress(url))
    }

    @Test func `tells a wrong password, a missing one and a missing database apart`() async throws {
        let cluster = try await PostgresCluster.shared()
        let url = try await cluster.makeDatabase()
        #expect(try Self.refusal(url) == nil)
        #expect(
            try Self.refusal(url.replacing(PostgresCluster.password, with: "wr0ng-one")) == .passwordWrong)
        #expect(
            try Self.refusal(url.replacing(":\(PostgresCluster.password)@", with: "@")) == .passwordMissing)
        #expect(try Self.refusal(cluster.url(of: "no_such_database")) == .databaseMissing)
        // PostgreSQL does not say whether there is such a user.
        #expect(try Self.refusal(url.replacing("//siwa:", with: "//stranger:")) == .passwordWrong)
    }

    /// Uses a name that a resolver refuses without a query.
    @Test func `an unknown host is named, if no other host can be found`() throws {
        #expect(try Self.refusal("postgres://siwa@no%20such%20host/siwa") == .unknownHost("no such host"))
        #expect(try Self.refusal("postgres://siwa@no%20such%20host,127.0.0.1:9/siwa") == nil)
    }

    @Test func `a server that is away is no mistake`() throws {
        #expect(try Self.refusal("postgres://siwa:secret@127.0.0.1:9/siwa") == nil)
        #expect(try Self.refusal("postgres:///siwa?host=/nonexistent") == nil)
    }
}
