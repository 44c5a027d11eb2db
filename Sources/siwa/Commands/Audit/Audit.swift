import AppleAccounts
import ArgumentParser

/// `siwa audit`
struct Audit: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Verify, show and export the audit log.",
        discussion: """
            Needs the location of the database alone: DATABASE_URL, or database_url in the file of SIWA_CONFIG. \
            siwa serve may be running.
            """,
        subcommands: [VerifyAudit.self, TailAudit.self, ExportAudit.self])

    /// Reads the log of the configured database, and prints errors of the database.
    static func reading(
        _ body: (any DatabaseInspection, DatabaseLocation) async throws -> Void
    ) async throws {
        let location = try await DatabaseLocation.ofProcess()
        let busy = "another program has locked the database. Run the command again."
        try await OpenedDatabase.reportingFailures(of: "siwa audit", busy: busy) {
            try await location.checkPresence()
            let inspection = try location.inspection()
            do {
                try await body(inspection, location)
            } catch {
                await inspection.close()
                throw error
            }
            await inspection.close()
        }
    }
}
