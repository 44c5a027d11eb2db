import AppleEmulator
import Cryptography
import Encodings
import Foundation
import StrictJSON
import TestSupport
import Testing

/// The audit log of a running service, with the commands of the built program, and with the tools of a database
/// operator who changes rows.
@Suite(.serialized, .timeLimit(.hung)) struct AuditStoryTests {
    private struct Story {
        let account: String
        let erased: String
        let secrets: [String]
    }

    @Test(arguments: ObservedDatabase.Store.allCases)
    func `tells what callers, clients, commands and starts did, and finds each change of a row`(
        store: ObservedDatabase.Store
    ) async throws {
        try await LinkedSystem.with(store) { system in
            let story = try await Self.play(at: system)
            let rows = try await Self.export(system)
            try Self.checkStory(rows, story)
            try await Self.checkPage(system)
            try await system.run(["audit", "verify"]).checked()
            let hash = try #require(rows.last?["hash"]?.string)

            // Another start with another key, and a command.
            let more = ["SIWA_API_KEY_HASHES": "other=\(Hexadecimal.encode(SHA256Digest.hash("other")))"]
            let again = try await system.serve(0, more)
            #expect(await again.stop() == 0)
            let changes = try await Self.export(system).dropFirst(rows.count)
                .filter { $0["action"] == "configuration_changed" }
                .compactMap { $0["detail"]?.string?.split(separator: ",").first }
            #expect(changes == ["api_key other: added", "api_key test: removed"])
            let expected = try await system.run(["audit", "verify", "--expect", hash])
            #expect(expected.status == 0 && expected.output.contains("Rows since the expected hash: "))
            let tail = try await system.run(["audit", "tail", "--lines", "2"])
            #expect(tail.output.split(separator: "\n").count { $0.contains("  by ") } == 2, "\(tail.output)")

            let stored = try await system.database.rows(of: "audit")
            for secret in story.secrets {
                #expect(!stored.contains(secret), "a row of the audit log has \(secret)")
                let hexadecimal = Hexadecimal.encode(Array(secret.utf8))
                #expect(!stored.lowercased().contains(hexadecimal))
            }
            try await Self.attack(system)
        }
    }

    /// Links two users, disables and enables one, erases the other. Ends with the service stopped.
    private static func play(at system: LinkedSystem) async throws -> Story {
        let replica = try await system.serve()
        let backend = replica.backend
        var accounts: [String] = []
        var secrets = [Backend.secret, LinkedClients.googleSecret]
        for _ in 0..<2 {
            let user = try system.makeUser()
            let token = try await system.identityToken(of: user)
            let signedIn = try await backend.signIn(token)
            accounts.append(try #require(signedIn["account"]?["id"]?.string))
            let code = try await replica.flip(.token(token))
            let link = try ServiceProcess.Link(try await replica.redeem(code))
            #expect(try await replica.refresh(link.refreshToken).status == 200)
            secrets += [token, code, link.accessToken, link.refreshToken, user.subject]
            if let email = signedIn["account"]?["email"]?.string { secrets.append(email) }
        }
        #expect(try await backend.get("/v1/accounts?created_after=2020-01-01T00:00:00Z").status == 200)
        let path = "/v1/accounts/\(accounts[0])"
        #expect(try await backend.post("\(path)/disable", [("reason", "fraud")]).status == 200)
        #expect(try await backend.post("\(path)/enable").status == 200)
        let grant = try #require(try await replica.grants(of: accounts[0]).first)
        #expect(try await replica.unlink(grant, of: accounts[0]).status == 204)
        #expect(try await backend.delete("/v1/accounts/\(accounts[1])").status == 200)
        #expect(await replica.stop() == 0)
        return Story(account: accounts[0], erased: accounts[1], secrets: secrets)
    }

    private static func export(_ system: LinkedSystem) async throws -> [JSONValue] {
        try await exportedLines(system).map { try JSONValue(parsing: Array($0.utf8)) }
    }

    /// The lines on standard output. On standard error, PostgreSQL's settings of the tests cause a warning.
    private static func exportedLines(_ system: LinkedSystem) async throws -> [Substring] {
        let run = try await system.run(["audit", "export"]).checked()
        return run.output.split(separator: "\n").filter { $0.hasPrefix("{") }
    }

    private static func checkStory(_ rows: [JSONValue], _ story: Story) throws {
        func texts(_ name: String, where isMeant: (JSONValue) -> Bool = { _ in true }) -> [String] {
            rows.filter(isMeant).compactMap { $0[name]?.string }
        }
        let own = { (row: JSONValue) in row["account"]?.string == story.account }
        #expect(
            texts("action", where: own) == [
                "grant_created", "tokens_issued", "account_disabled", "account_enabled", "tokens_ended",
                "grant_ended",
            ])
        #expect(
            texts("actor_kind", where: own) == ["user", "oauth_client"]
                + Array(repeating: "api_key", count: 4))
        #expect(texts("actor", where: own) == ["google"] + Array(repeating: "test", count: 4))
        #expect(texts("request_id", where: own).count == 6)
        #expect(!texts("account").contains(story.erased))
        // Grant, tokens, their ends and the erasure.
        #expect(rows.count { $0["person_digest"] != nil && $0["account"] == nil } == 5)
        let erasure = try #require(rows.first { $0["action"] == "account_erased" })
        #expect(erasure["actor"] == "test")
        #expect(erasure["detail"]?.string?.hasPrefix("era_") == true)
        let parts = texts("detail") { $0["action"] == "configuration_changed" }
        for part in ["api_key test: added", "sealing_key test: added", "oauth_client google: added"] {
            #expect(parts.contains { $0.hasPrefix(part) }, "\(part) is missing in \(parts)")
        }
        #expect(texts("action").contains("signing_key_made"))
        let search = try #require(rows.first { $0["action"] == "accounts_exported" })
        #expect(search["detail"] == "2 accounts" && search["actor"] == "test")
        #expect(rows.last?["action"] == "audit_exported")
        #expect(rows.last?["actor"] == "audit export")
    }

    /// Runs the program of the page, which verifies an export with code of its own.
    private static func checkPage(_ system: LinkedSystem) async throws {
        let text = try ProjectFolder.text("docs/audit.md")
        let program = try #require(
            text.split(separator: "```python\n", maxSplits: 1).last?.split(separator: "```\n").first)
        let script = try system.directory.write(String(program), to: "verify_audit.py")
        let exported = try await exportedLines(system).joined(separator: "\n") + "\n"
        let run = try await OperatorTool.run("python3", [script], input: exported, in: system.directory)
            .checked()
        let verified = try await system.run(["audit", "verify"]).output
        let newest = try #require(run.output.split(whereSeparator: \.isWhitespace).last)
        #expect(verified.contains("Newest hash: \(newest)"))
        let forged = exported.replacing("\"account_disabled\"", with: "\"account_enabled\"")
        let refused = try await OperatorTool.run("python3", [script], input: forged, in: system.directory)
        #expect(refused.status == 1 && refused.output.contains("is not as it was written"))
    }

    /// Changes rows with the tools of the database, and expects the first of them to be named.
    private static func attack(_ system: LinkedSystem) async throws {
        let last = try #require(Int(try await system.database.query("SELECT max(sequence) FROM audit")))
        let attacks = [
            ("UPDATE audit SET action = 6 WHERE sequence = 7", 7),
            ("UPDATE audit SET recorded_at = recorded_at + 1 WHERE sequence = 5", 5),
            ("DELETE FROM audit WHERE sequence = 4", 4), ("DELETE FROM audit WHERE sequence < 4", 1),
        ]
        for (sql, row) in attacks {
            try await system.database.query(sql)
            let run = try await system.run(["audit", "verify"])
            #expect(run.status == 2, "\(sql): \(run.output)")
            #expect(run.output.contains("row \(row) "), "\(sql): \(run.output)")
        }
        #expect(last > 10)
    }
}
