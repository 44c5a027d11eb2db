import AppleAccounts
import ArgumentParser
import Composition
import Cryptography
import Encodings
import Foundation
import KeySets
import StrictJSON

/// The `siwa audit` command.
struct Audit: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Verify, show and export the audit log.",
        discussion: """
            Needs the location of the database alone: DATABASE_URL, or database_url in the file of SIWA_CONFIG. \
            siwa serve may be running.
            """,
        subcommands: [VerifyAudit.self, TailAudit.self, ExportAudit.self])

    /// Reads the configured database's log. If the database fails, prints the error and ends the command.
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

/// The `siwa audit export` command.
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
    /// Records in the audit log that a command exports data. If the service has the SQLite file open, the
    /// command reports that the export was not logged.
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

/// The `siwa audit tail` command.
struct TailAudit: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "tail", abstract: "Show the newest rows of the audit log, the oldest of them first.")

    @Option(name: .shortAndLong, help: "The number of rows, 1,000 at most.")
    var lines = 10

    @Flag(name: .shortAndLong, help: "Go on with new rows until the command is interrupted.")
    var follow = false

    func validate() throws {
        guard (0...1000).contains(lines) else { throw ValidationError("--lines must be 0 to 1000.") }
    }

    func run() async throws {
        try await Audit.reading { inspection, _ in
            var last = try await inspection.auditChain().head.sequence
            let newest = try await inspection.auditRows(before: last + 1, of: nil, limit: max(lines, 1))
            try Self.write(newest.prefix(lines).reversed())
            guard follow else { return }
            while !Task.isCancelled {
                let rows = try await inspection.auditRows(after: last, limit: 1000)
                try Self.write(rows)
                last = rows.last?.sequence ?? last
                if rows.isEmpty { try await Task.sleep(for: .milliseconds(500)) }
            }
        }
    }

    /// Writes rows without buffering, because `print` would buffer lines to a file or a pipe.
    private static func write(_ rows: some Sequence<AuditRow>) throws {
        let text = rows.map { $0.line + "\n" }.joined()
        if !text.isEmpty { try FileHandle.standardOutput.write(contentsOf: Data(text.utf8)) }
    }
}

/// The `siwa audit verify` command.
struct VerifyAudit: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Check that no row of the audit log was changed, removed, added or moved.",
        discussion: """
            Prints the newest hash. Keep it elsewhere, and give it as --expect another day: only so is it \
            found that the whole log was written anew. Keep the number of rows whose user was erased too. The \
            exit status is 2 when the log is not as it was written.
            """)

    @Option(help: "A hash that an earlier run has printed, which must be in the log.")
    var expect: String?

    func validate() throws {
        guard expect == nil || expectedHash != nil else {
            throw ValidationError("--expect must have 64 hexadecimal digits.")
        }
    }

    private var expectedHash: SHA256Digest? {
        expect.flatMap { Hexadecimal.decode($0) }.flatMap { SHA256Digest($0) }
    }

    func run() async throws {
        try await Audit.reading { inspection, _ in
            do {
                let verification = try await inspection.verifyAudit(expected: expectedHash)
                for line in Self.lines(verification) { print(line) }
            } catch let fault as AuditVerification.Fault {
                ErrorMessage.write(fault.sentence)
                throw ExitCode(2)
            }
        }
    }

    static func lines(_ verification: AuditVerification) -> [String] {
        let (first, last) = (verification.firstSequence, verification.verified.sequence)
        guard last >= first else { return ["The audit log has no rows."] }
        var lines = ["The audit log is as it was written: rows \(first) to \(last)."]
        // Printed even if it is 0, so that operators can store the number with the hash: a row cleared by
        // hand looks like an erasure.
        lines.append("Rows whose user was erased: \(verification.anonymous).")
        if let since = verification.rowsSinceExpected {
            lines.append("Rows since the expected hash: \(since).")
        }
        lines.append("Newest hash: \(verification.verified.hashText)")
        return lines
    }
}

extension AuditVerification.Fault {
    /// The verification result as a sentence for an operator, with the expected and the actual state.
    var sentence: String {
        switch code {
        case .missing: "The audit log is broken: row \(sequence) is missing."
        case .changed:
            "The audit log is broken: row \(sequence) does not follow from the row before it. It was changed, "
                + "inserted or moved."
        case .personChanged:
            "The audit log is broken: the account beside row \(sequence) is not the account of the row."
        case .headDiffers:
            "The audit log is broken at its end: the row at or after \(sequence) is not the newest row that was "
                + "written."
        case .anchorUnproven:
            "The audit log is broken at its beginning: rows up to \(sequence) are gone, and no row tells of their "
                + "purge."
        case .expectedMissing:
            "The audit log has no row with the expected hash. The log was written anew, or the row is older than "
                + "its oldest row, or the database was restored from a backup of before the row. Verified up to row "
                + "\(sequence)."
        }
    }
}

extension AuditRow {
    /// The row as a line of an export. It contains all values that the row's hash covers, and the personal
    /// columns.
    var json: JSONValue {
        var members: [(String, JSONValue)] = [
            ("sequence", .integer(sequence)), ("time", .string(facts.moment.rfc3339)),
            ("actor_kind", .string(facts.actor.kind.rawValue)),
        ]
        func add(_ name: String, _ text: String?) {
            if let text { members.append((name, .string(text))) }
        }
        add("actor", facts.actor.name)
        add("action", facts.action.rawValue)
        add("outcome", facts.outcome.rawValue)
        add("reason", facts.reason)
        add("oauth_client", facts.oauthClient?.rawValue)
        add("request_id", facts.requestID)
        add("detail", facts.detail)
        add("person_digest", entry.personDigest.map { Hexadecimal.encode($0) })
        add("account", entry.person?.account.rawValue)
        add("token_family", entry.person?.tokenFamily.map { Hexadecimal.encode($0.bytes) })
        add("scope", entry.person?.scope)
        add("salt", entry.person.map { Hexadecimal.encode($0.salt) })
        add("hash", link.hashText)
        return .object(JSONObject(members))
    }

    /// The row as a line of terminal output.
    var line: String {
        let actor = [facts.actor.kind.rawValue, facts.actor.name].compactMap { $0 }.joined(separator: " ")
        var parts = [
            "\(sequence)", facts.moment.rfc3339, facts.action.rawValue, facts.outcome.rawValue, "by \(actor)",
        ]
        if let reason = facts.reason { parts.append("reason \(reason)") }
        if let client = facts.oauthClient { parts.append("client \(client.rawValue)") }
        if let person = entry.person {
            parts.append("account \(person.account.rawValue)")
        } else if entry.personDigest != nil {
            parts.append("account erased")
        }
        if let scope = entry.person?.scope { parts.append("scope \(scope)") }
        if let requestID = facts.requestID { parts.append("request \(requestID)") }
        if let detail = facts.detail { parts.append("(\(detail))") }
        return ErrorMessage.withoutControls(parts.joined(separator: "  "))
    }
}
