import AppleAccounts
import Testing

@testable import siwa

/// The lines that `siwa audit verify` prints, to be kept elsewhere.
@Suite struct AuditLinesTests {
    /// Returns the lines about a log of two rows about one user.
    private static func lines(isErased: Bool) throws -> [String] {
        var generator = SystemRandomNumberGenerator()
        let account = AccountID(UniqueID(at: Moment(seconds: 1), using: &generator))
        var rows: [AuditRow] = []
        for _ in 0..<2 {
            let sealed = SealedAuditEntry(
                AuditEntry(
                    .consoleShow, by: .service, at: Moment(seconds: 1), person: AuditPerson(account)),
                using: &generator)
            let link = (rows.last?.link ?? .beginning).next(sealed.canonicalBytes)
            rows.append(AuditRow(isErased ? sealed.withoutPerson : sealed, link: link))
        }
        let head = try #require(rows.last?.link)
        var verification = AuditVerification(AuditChain(anchor: .beginning, head: head))
        for row in rows { try verification.check(row) }
        try verification.finish()
        let lines = VerifyAudit.lines(verification)
        #expect(lines.first == "The audit log is as it was written: rows 1 to 2.")
        #expect(lines.last == "Newest hash: \(head.hashText)")
        return lines
    }

    @Test(arguments: [(false, 0), (true, 2)])
    func `the number of rows whose user was erased stands beside the hash, also when it is 0`(
        isErased: Bool, count: Int
    ) throws {
        let lines = try Self.lines(isErased: isErased)
        #expect(lines.count == 3 && lines[1] == "Rows whose user was erased: \(count).")
    }

    @Test func `an empty log has one line`() {
        #expect(VerifyAudit.lines(AuditVerification(.empty)) == ["The audit log has no rows."])
    }
}
