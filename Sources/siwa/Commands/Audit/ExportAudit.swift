import AppleAccounts
import ArgumentParser
import Foundation
import KeySets
import StrictJSON

/// `siwa audit export`
struct ExportAudit: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "export",
        abstract: "Write the audit log as JSON Lines, the oldest row first.",
        discussion: """
            Verifies the chain on the way. The output names accounts, so it is personal data, and no later \
            erasure reaches it. The export itself gets a row of the log; with SQLite only while the service \
            is stopped.
            """)

    @Option(help: "Leave out older rows. A moment like 2026-11-21T02:00:00Z.")
    var since: Moment?

    @Option(help: "Leave out this moment and later.")
    var until: Moment?

    func run() async throws {
        try await Audit.reading { inspection, location in
            let bounds = "since \(since?.rfc3339 ?? "the beginning"), until \(until?.rfc3339 ?? "now")"
            try await location.noteExport(.auditExported, detail: bounds, command: "audit export")
            do {
                _ = try await inspection.verifyAudit { rows in
                    var bytes: [UInt8] = []
                    for row in rows where isMeant(row.facts.moment) {
                        bytes += row.json.serialized() + [UInt8(ascii: "\n")]
                    }
                    if !bytes.isEmpty { try FileHandle.standardOutput.write(contentsOf: Data(bytes)) }
                }
            } catch let fault as AuditVerification.Fault {
                ErrorMessage.write(fault.sentence)
                throw ExitCode(2)
            } catch let purged as AuditRowsPurged {
                ErrorMessage.write(
                    "Rows \(purged.rows.lowerBound) to \(purged.rows.upperBound) are past their time, and were "
                        + "deleted before they were written. Run the command again.")
                throw ExitCode.failure
            }
        }
    }

    private func isMeant(_ moment: Moment) -> Bool {
        (since.map { $0 <= moment } ?? true) && (until.map { moment < $0 } ?? true)
    }
}

extension DatabaseLocation {
    /// Notes in the audit log that a command hands out data. The service may have the SQLite file open; then the
    /// command says that the log has no row of it.
    func noteExport(_ action: AuditAction, detail: String, command: String) async throws {
        let moment = Moment(milliseconds: SystemKeySetClock().millisecondsSince1970)
        let entry = AuditEntry(
            action, by: AuditOrigin(.command(command)), at: moment, detail: detail)
        do {
            try await OpenedDatabase.with(self) { try await $0.appendAudit([entry]) }
        } catch let error as StorageError where error.code == .busy {
            ErrorMessage.write(
                "siwa serve or another command has the database open, so the audit log has no row of this export."
            )
        }
    }
}
