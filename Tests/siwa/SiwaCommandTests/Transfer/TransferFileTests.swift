import AppleAccounts
import Foundation
import StrictJSON
import TestSupport
import Testing

@testable import siwa

/// Changes of a prepared file between the two teams.
@Suite struct TransferFileTests {
    static func line(_ number: Int, transferSubject: String? = nil, clientID: String = "com.example.app")
        throws
        -> String
    {
        let team = try #require(TeamID(RunningApple.team))
        let line = TransferLine(
            accountID: AccountID(UniqueID(high: 1, low: UInt64(number))),
            from: SubjectKey(team: team, subject: try #require(AppleSubject("old.\(number)"))),
            recipientTeam: try #require(TeamID(RunningApple.otherTeam)),
            clientID: try #require(ClientID(clientID)),
            transferSubject: try #require(AppleSubject(transferSubject ?? "transfer.\(number)")),
            createdAt: StoredAccounts.now)
        return String(decoding: JSONValue.object(line.json).serialized(), as: UTF8.self)
    }

    static func lines(_ content: String) async throws -> [TransferLine] {
        let deployment = try Deployment(apps: [
            App(
                team: try #require(TeamID(RunningApple.otherTeam)),
                primaryClientID: try #require(ClientID("com.example.app")), otherClientIDs: [])
        ])
        return try await TemporaryFile.with(content) { path in
            try TransferFile(path: path, deployment: deployment).lines
        }
    }

    static func refusal(_ content: String) async throws -> String? {
        let error = await #expect(throws: LineFile.Unusable.self) { try await lines(content) }
        return error?.reason
    }

    @Test func `accepts changed line ends`() async throws {
        let (first, second) = (try Self.line(1), try Self.line(2))
        let plain = try await Self.lines("\(first)\n\(second)\n")
        #expect(plain.count == 2)
        for changed in [
            "\(first)\r\n\(second)\r\n", "\(first)\n\(second)\n\n", "\(first)\r\n\r\n\(second)\r\n \r\n",
            // Otherwise the last account would be lost without a message.
            "\(first)\n\(second)", "\(first)\r\n\(second)\r",
        ] {
            #expect(try await Self.lines(changed) == plain)
        }
    }

    @Test func `an account with two equal lines counts once`() async throws {
        let (first, second) = (try Self.line(1), try Self.line(2))
        let lines = try await Self.lines("\(first)\n\(second)\n\(first)\n\(second)\r\n\(first)\n")
        #expect(lines.map(\.transferSubject.rawValue) == ["transfer.1", "transfer.2"])
    }

    @Test func `different lines for one account are refused with their numbers`() async throws {
        let content =
            "\(try Self.line(1))\n\n\(try Self.line(2))\n\(try Self.line(1, transferSubject: "else"))\n"
        let reason = try #require(try await Self.refusal(content))
        #expect(reason.contains("lines 1 and 4"))
        #expect(!reason.contains("else"))
    }

    @Test func `one transfer_sub for two accounts is refused with the line numbers`() async throws {
        let content = "\(try Self.line(1))\n\(try Self.line(2, transferSubject: "transfer.1"))\n"
        let reason = try #require(try await Self.refusal(content))
        #expect(reason.contains("lines 1 and 2"))
        #expect(!reason.contains("transfer.1"))
    }

    @Test func `a truncated file is refused`() async throws {
        let second = try Self.line(2)
        for length in [1, 20, second.count - 1] {
            let reason = try await Self.refusal("\(try Self.line(1))\n\(second.prefix(length))")
            #expect(reason?.contains("truncated in line 2") == true)
        }
    }

    @Test(arguments: ["{}", #"{"account_id":"x"}"#, "[]", "null", "hello", "{\"a\":1}{\"b\":2}"])
    func `a line that is not a transfer is refused with its number`(line: String) async throws {
        let reason = try await Self.refusal("\(try Self.line(1))\n\n\(line)\n\(try Self.line(2))\n")
        #expect(reason?.contains("line 3") == true)
    }

    @Test func `an app of another team is refused`() async throws {
        let reason = try await Self.refusal("\(try Self.line(1, clientID: "com.example.zzz"))\n")
        #expect(reason?.contains("com.example.zzz") == true)
    }
}
