import AppleAccounts
import Testing

@testable import siwa

@Suite struct TransferLineTests {
    private func line(from team: String) throws -> TransferLine {
        TransferLine(
            accountID: try #require(AccountID("acc_01a1fca9-f8eb-75d6-b13c-5e1eee143be1")),
            from: SubjectKey(team: try #require(TeamID(team)), subject: try #require(AppleSubject("old"))),
            recipientTeam: try #require(TeamID("OTHERTEAM1")),
            clientID: try #require(ClientID("com.example.app")),
            transferSubject: try #require(AppleSubject("transfer-1")), createdAt: Moment(milliseconds: 1000))
    }

    @Test func `reads what it has written`() throws {
        let line = try line(from: "A1B2C3D4E5")
        #expect(TransferLine(line.json) == line)
    }

    @Test func `refuses an account that the receiving team already has`() throws {
        #expect(TransferLine(try line(from: "OTHERTEAM1").json) == nil)
    }
}
