import AppleEmulator
import PostgresCluster
import TestSupport
import Testing

/// The age of the last notification is one of the deployment and not of a process: an alert that waits for a
/// day must fire also where each replica is restarted every day.
@Suite(.serialized) struct NotificationAgeTests {
    @Test func `a restart does not make the last notification younger`() async throws {
        try await TemporaryDirectory.with { directory in
            // Two days after the first start nothing has come.
            #expect(try await Self.age(in: directory, after: nil) < 3600)
            try await OperatorTool.sqlite(
                "UPDATE configuration_fingerprint SET first_seen_at = first_seen_at - 172800000",
                in: directory)
            #expect((172_800..<180_000).contains(try await Self.age(in: directory, after: nil)))
            // One comes, and two days pass.
            #expect(try await Self.age(in: directory, after: "ada") < 3600)
            try await OperatorTool.sqlite(
                "UPDATE notification SET received_at = received_at - 172800000", in: directory)
            #expect((172_800..<180_000).contains(try await Self.age(in: directory, after: nil)))
        }
    }

    @Test func `a replica knows of notifications that another one received`() async throws {
        let database = try await PostgresCluster.shared().makeDatabase()
        let name = String(try #require(database.split(separator: "/").last))
        try await Relation.with { relation in
            let (first, other) = try await relation.serve(["DATABASE_URL": database])
            try await PostgresCluster.shared().superuserQuery(
                "UPDATE configuration_fingerprint SET first_seen_at = first_seen_at - 172800000", in: name)
            let (second, backend) = try await relation.serve(["DATABASE_URL": database])
            #expect(try await Self.age(at: backend) >= 172_800)
            let user = try relation.apple.makeUser(UserRecipe())
            #expect(try await relation.signIn(user, at: other).status == 201)
            for payload in try await relation.apple.notifications(of: .revokeConsent, by: user) {
                #expect(try await other.notify(payload).status == 200)
            }
            try await eventually { try await Self.age(at: backend) < 3600 }
            #expect(await first.stop() == 0)
            #expect(await second.stop() == 0)
        }
    }

    /// Starts a service, sends it a notification about a user, if there is one, and stops it.
    private static func age(in directory: TemporaryDirectory, after user: String?) async throws -> Double {
        let service = try await ServiceProcess.serve(directory, try ServiceProcess.variables(directory))
        let backend = service.backend
        if let user { #expect(try await backend.notify(try Minted.notification(user)).status == 200) }
        let age = try await age(at: backend)
        #expect(await service.stop() == 0)
        return age
    }

    private static func age(at backend: Backend) async throws -> Double {
        let text = try await backend.get("/metrics").text
        let line = try #require(text.firstMatch(of: /\nsiwa_notification_age_seconds (\S+)\n/))
        return try #require(Double(line.1))
    }
}
