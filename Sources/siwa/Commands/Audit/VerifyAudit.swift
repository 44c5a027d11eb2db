import AppleAccounts
import ArgumentParser
import Cryptography
import Encodings

/// `siwa audit verify`
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
        // Also 0, to be kept beside the hash: clearing a row by hand looks like an erasure.
        lines.append("Rows whose user was erased: \(verification.anonymous).")
        if let since = verification.rowsSinceExpected {
            lines.append("Rows since the expected hash: \(since).")
        }
        lines.append("Newest hash: \(verification.verified.hashText)")
        return lines
    }
}

extension AuditVerification.Fault {
    /// The sentence for an operator: what was expected, and what was found.
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
