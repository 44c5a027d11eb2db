import AppleAccounts
import ArgumentParser

/// `siwa audit`
struct Audit: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Verify, show and export the audit log.",
        discussion: """
            Reads the same configuration as siwa serve, which may be running.
            """,
        subcommands: [VerifyAudit.self, TailAudit.self, ExportAudit.self])

    /// Reads the log of the configured database, and prints errors of the database.
    static func reading(
        _ body: (any DatabaseInspection, ServiceSettings) async throws -> Void
    ) async throws {
        let settings = try await ServiceSettings.ofProcess()
        let busy = "another program has locked the database. Run the command again."
        try await OpenedDatabase.reportingFailures(of: "siwa audit", busy: busy) {
            try await settings.database.checkPresence()
            let inspection = try settings.database.inspection()
            do {
                try await body(inspection, settings)
            } catch {
                await inspection.close()
                throw error
            }
            await inspection.close()
        }
    }
}
