import Foundation
import PostgresCluster
import StrictJSON
import TestSupport
import Testing

/// The commands of docs/backup-and-upgrade.md, pasted while the service runs.
@Suite struct BackupTests {
    @Test func `a backup that was made while the service runs is restored as the page says`() async throws {
        try await TemporaryDirectory.with { directory in
            let variables = try ServiceProcess.variables(directory)
            let first = try await ServiceProcess.serve(directory, variables)
            let before = first.backend
            #expect(try await before.signIn(try Minted.token("kept")).status == 201)
            let account = try await before.account("kept")["id"]?.string
            let backup = try await Self.paste("### Backup", "", in: directory)
            #expect(backup.status == 0 && backup.output == "ok\n", "\(backup.output)")
            #expect(try await before.signIn(try Minted.token("lost")).status == 201)
            let cursor = try #require(try await before.get("/v1/events?after=latest")["cursor"]?.string)
            #expect(await first.stop() == 0)

            let copy = try #require(
                try FileManager.default.contentsOfDirectory(atPath: "\(directory.path)/backups").first)
            try await Self.paste(
                "### Restore", "copy='\(directory.path)/backups/\(copy)'", in: directory
            ).checked()

            let second = try await ServiceProcess.serve(directory, variables)
            let after = second.backend
            #expect(try await after.account("kept")["id"]?.string == account)
            #expect(try await after.account("lost").code == "account_not_found")
            #expect(try await after.get("/v1/events?after=\(cursor)").code == "cursor_ahead")
            #expect(try await after.signIn(try Minted.token("kept")).status == 200)
            #expect(await second.stop() == 0)
        }
    }

    @Test func `each restore keeps what was there before, and a block stops at its first error`() async throws
    {
        try await TemporaryDirectory.with { directory in
            let database = directory.path(of: "siwa.sqlite")
            let copy = directory.path(of: "copy")
            func restore(_ time: String) async throws -> Int32 {
                // In place of the clock, which may not have gone on.
                try await Self.paste("### Restore", "date() { echo \(time); }; copy='\(copy)'", in: directory)
                    .status
            }
            for (time, content) in [("first", "1"), ("second", "2")] {
                try Data(content.utf8).write(to: URL(fileURLWithPath: database))
                try Data("backup \(content)".utf8).write(to: URL(fileURLWithPath: copy))
                #expect(try await restore(time) == 0)
                #expect(try String(contentsOfFile: database, encoding: .utf8) == "backup \(content)")
            }
            // The folder of that second is there: nothing is moved over it.
            #expect(try await restore("second") != 0)
            #expect(try String(contentsOfFile: database, encoding: .utf8) == "backup 2")
            for (time, content) in [("first", "1"), ("second", "2")] {
                let kept = "\(directory.path)/before-restore-\(time)/siwa.sqlite"
                #expect(try String(contentsOfFile: kept, encoding: .utf8) == content)
            }
        }
    }

    @Test func `a dump of PostgreSQL is read into an empty database as the page says`() async throws {
        let cluster = try await PostgresCluster.shared()
        let (old, new) = (try await cluster.makeDatabase(), try await cluster.makeDatabase())
        try await TemporaryDirectory.with { directory in
            var variables = try ServiceProcess.variables(directory)
            variables["DATABASE_URL"] = old
            let first = try await ServiceProcess.serve(directory, variables)
            let before = first.backend
            #expect(try await before.signIn(try Minted.token("kept")).status == 201)
            let account = try await before.account("kept")["id"]?.string
            try await Self.paste("## PostgreSQL", "DATABASE_URL='\(old)'", in: directory).checked()
            #expect(await first.stop() == 0)
            try await Self.paste(
                "## PostgreSQL", block: 2, "DATABASE_URL='\(new)'", in: directory
            ).checked()

            variables["DATABASE_URL"] = new
            let second = try await ServiceProcess.serve(directory, variables)
            let after = second.backend
            #expect(try await after.account("kept")["id"]?.string == account)
            #expect(try await after.signIn(try Minted.token("kept")).status == 200)
            #expect(await second.stop() == 0)
        }
    }

    /// Runs the commands of one section on the files of the test, without those for systemd.
    private static func paste(
        _ heading: String, block number: Int = 1, _ variables: String, in directory: TemporaryDirectory
    ) async throws -> ProgramRun {
        let page = try ProjectFolder.text("docs/backup-and-upgrade.md")
        let section = try #require(page.components(separatedBy: "\(heading)\n").dropFirst().first)
        let block = try #require(section.components(separatedBy: "```sh\n").dropFirst(number).first)
        let commands = try #require(block.components(separatedBy: "```").first)
            .split(separator: "\n").filter { !$0.hasPrefix("systemctl ") }.joined(separator: "\n")
            .replacing("/var/lib/siwa", with: directory.path)
            .replacing("/var/backups/siwa", with: "\(directory.path)/backups")
            .replacing(" --owner=siwa --group=siwa", with: "")
        try FileManager.default.createDirectory(
            atPath: "\(directory.path)/backups", withIntermediateDirectories: true)
        return try await OperatorTool.run("sh", ["-c", "\(variables)\n\(commands)"], in: directory)
    }
}
