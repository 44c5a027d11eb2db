import AppleEmulator
import KeySets
import PostgresCluster
import StrictJSON
import TestSupport
import Testing

/// Two replicas with one PostgreSQL: work that begins at one continues at the other.
@Suite struct ReplicaStoryTests {
    struct Replicas: Sendable {
        let apple: EmulatorState
        let first: Backend
        let second: Backend
    }

    static func with(
        bounds: KeySetBounds = KeySetBounds(), _ body: @Sendable (Replicas) async throws -> Void
    ) async throws {
        let database = try await PostgresCluster.shared().makeDatabase()
        try await WholeSystem.withApple { emulator, directory in
            try await WholeSystem.withService(emulator, directory, database: database, bounds: bounds) {
                first in
                try await WholeSystem.withService(emulator, directory, database: database, bounds: bounds) {
                    second in try await body(Replicas(apple: emulator.state, first: first, second: second))
                }
            }
        }
    }

    /// Returns a token with a nonce of the first replica, and the member that sends the nonce.
    private static func tokenWithNonce(
        _ replicas: Replicas
    ) async throws -> (token: String, use: [(String, JSONValue)]) {
        let minted = try await replicas.first.post("/v1/nonces")
        var recipe = IdentityTokenRecipe()
        recipe.nonce = minted["nonce_sha256"]?.string
        return (
            try await replicas.apple.mint(recipe).identityToken,
            [("nonce", JSONValue.string(try #require(minted["nonce"]?.string)))]
        )
    }

    @Test func `a client that waits at one replica gets the events of the other`() async throws {
        try await Self.with { replicas in
            var cursor = "0"
            for number in 1...10 {
                let after = cursor
                let reading = Task { try await replicas.second.get("/v1/events?after=\(after)&wait=30") }
                let user = try replicas.apple.makeUser(UserRecipe())
                let token = try await replicas.apple.mint(.of(user)).identityToken
                #expect(try await replicas.first.signIn(token).status == 201)
                let page = try await reading.value
                #expect(
                    page["events"]?.array?.compactMap { $0["type"]?.string }
                        == ["account_created", "credential_authorized"])
                cursor = try #require(page["cursor"]?.string)
                #expect(cursor.contains("\(number * 2)"))
            }
        }
    }

    @Test func `a nonce of one replica can be used once at the other, and not again`() async throws {
        try await Self.with { replicas in
            let (token, use) = try await Self.tokenWithNonce(replicas)
            #expect(try await replicas.second.signIn(token, use).status == 201)
            #expect(try await replicas.first.signIn(token, use).code == "nonce_used")
            #expect(try await replicas.second.signIn(token, use).code == "nonce_used")
        }
    }

    @Test func `of concurrent sign-ins with one nonce at both replicas, one succeeds`() async throws {
        try await Self.with { replicas in
            for _ in 0..<10 {
                let (token, use) = try await Self.tokenWithNonce(replicas)
                async let first = replicas.first.signIn(token, use)
                async let second = replicas.second.signIn(token, use)
                let statuses = try await [first.status, second.status]
                #expect(statuses.count { $0 < 300 } == 1)
                #expect(statuses.contains(401))
            }
        }
    }

    @Test func `a new user who signs in at both replicas at once gets one account`() async throws {
        try await Self.with { replicas in
            for _ in 0..<10 {
                let user = try replicas.apple.makeUser(UserRecipe())
                let token = try await replicas.apple.mint(.of(user)).identityToken
                async let first = replicas.first.signIn(token)
                async let second = replicas.second.signIn(token)
                let responses = try await [first, second]
                #expect(Set(responses.map(\.status)) == [200, 201])
                #expect(Set(responses.compactMap { $0["account"]?["id"]?.string }).count == 1)
            }
        }
    }

    @Test func `a revocation that one replica receives is effective at the other at once`() async throws {
        try await Self.with { replicas in
            let user = try replicas.apple.makeUser(UserRecipe())
            let token = try await replicas.apple.mint(.of(user)).identityToken
            #expect(try await replicas.first.signIn(token).status == 201)
            for payload in try await replicas.apple.notifications(of: .revokeConsent, by: user) {
                #expect(try await replicas.second.notify(payload).status == 200)
            }
            #expect(try await replicas.first.credential(user.subject)["state"] == "revoked")
            #expect(try await replicas.first.signIn(token).code == "credential_revoked")
        }
    }

    @Test func `a key that one replica has fetched is used by the other during an outage`() async throws {
        try await Self.with(bounds: KeySetBounds(lookUpCooldown: 1)) { replicas in
            try await replicas.apple.replaceKeys()
            let token = try await replicas.apple.mint(IdentityTokenRecipe()).identityToken
            #expect(try await replicas.first.verify(token).status == 200)
            replicas.apple.setFault(.hangingUp, on: .keys)
            // It stores the fetched set right after it has used it.
            try await eventually { try await replicas.second.verify(token).status == 200 }
        }
    }

    @Test func `a replica that starts during an outage has the keys at once`() async throws {
        let database = try await PostgresCluster.shared().makeDatabase()
        try await WholeSystem.withApple { emulator, directory in
            let token = try await emulator.state.mint(IdentityTokenRecipe()).identityToken
            try await WholeSystem.withService(emulator, directory, database: database) { first in
                #expect(try await first.signIn(token).status == 201)
                // The fetched set may not be in the database yet.
                try await eventually { try await first.get("/readyz").status == 200 }
            }
            emulator.state.setFault(.hangingUp, on: .keys)
            try await WholeSystem.withService(emulator, directory, database: database, waitsForKeys: false) {
                second in
                let ready = try await second.get("/readyz")
                #expect(ready.status == 200)
                let response = try await second.signIn(token)
                #expect(response.status == 200)
            }
        }
    }

    @Test func `one of two replicas exchanges a code, and an erasure at one is effective at both`()
        async throws
    {
        let database = try await PostgresCluster.shared().makeDatabase()
        try await Relation.with { relation in
            let (first, atFirst) = try await relation.serve(["DATABASE_URL": database])
            let (second, atSecond) = try await relation.serve(["DATABASE_URL": database])
            let users = try (0..<20).map { _ in try relation.apple.makeUser(UserRecipe()) }
            for (number, user) in users.enumerated() {
                let response = try await relation.signIn(
                    user, at: number.isMultiple(of: 2) ? atFirst : atSecond)
                #expect(response.status == 201)
            }
            for user in users {
                try await eventually {
                    try await relation.credential(of: user, at: atSecond)?["refresh_token"] == "held"
                }
            }
            #expect(relation.apple.counters.exchanges == 20)

            let account = try #require(try await atFirst.account(users[0].subject)["id"]?.string)
            let erased = try await atSecond.delete("/v1/accounts/\(account)")
            #expect(erased["erasure"]?["state"] == "completed")
            #expect(try await atFirst.account(users[0].subject).code == "account_not_found")
            let erasure = try #require(erased["erasure"]?["id"]?.string)
            let report = try await atFirst.get("/v1/erasures/\(erasure)")
            #expect(report["erasure"]?["tokens"]?.array?.first?["outcome"] == "revoked_and_proven")
            #expect(await first.stop() == 0)
            #expect(await second.stop() == 0)
        }
    }
}
