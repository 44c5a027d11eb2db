import AppleAccounts
import AppleIDClient
import Foundation
import StrictJSON
import TestSupport
import Testing

@testable import siwa

/// Changes of a prepared file between the two teams.
@Suite struct TransferFileTests {
    static func line(_ number: Int, transferSubject: String? = nil, clientID: String = "com.example.app")
        throws -> String
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
        ] { #expect(try await Self.lines(changed) == plain) }
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

@Suite struct LineFileTests {
    static func with(_ body: (String) async throws -> Void) async throws {
        try await SigningKeySettingsTests.withDirectory([:]) { try await body("\($0)/lines") }
    }

    static func line(_ number: Int64) -> JSONObject { JSONObject([("n", .integer(number))]) }

    @Test func `stores appended lines, and only its owner can read them`() async throws {
        try await Self.with { path in
            try LineFile(appendingTo: path).append([Self.line(1), Self.line(2)])
            try LineFile(appendingTo: path).append([Self.line(3)])
            #expect(try LineFile.read(path) == [Self.line(1), Self.line(2), Self.line(3)])
            let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
            #expect(mode == 0o600)
        }
    }

    @Test(arguments: [#"{"n":2"#, "{", "x"])
    func `an incomplete line after a crash is ignored and removed`(rest: String) async throws {
        try await Self.with { path in
            try Data("{\"n\":1}\n\(rest)".utf8).write(to: URL(fileURLWithPath: path))
            #expect(try LineFile.read(path) == [Self.line(1)])
            try LineFile(appendingTo: path).append([Self.line(3)])
            #expect(try LineFile.read(path) == [Self.line(1), Self.line(3)])
        }
    }

    @Test(arguments: [
        "{\"n\":1}\r\n{\"n\":2}\r\n", "{\"n\":1}\n{\"n\":2}\n\n", "\n{\"n\":1}\n \t\r\n{\"n\":2}\n\r\n",
    ])
    func `Windows line ends and blank lines are accepted`(content: String) async throws {
        try await Self.with { path in
            try Data(content.utf8).write(to: URL(fileURLWithPath: path))
            #expect(try LineFile.read(path) == [Self.line(1), Self.line(2)])
        }
    }

    @Test func `lines are counted as an editor counts them`() async throws {
        try await Self.with { path in
            try Data("\n{\"n\":1}\r\n\r\n{\"n\":2}".utf8).write(to: URL(fileURLWithPath: path))
            #expect(try LineFile.numberedLines(of: path).map(\.number) == [2])
            #expect(try LineFile.numberedLines(of: path, isEnded: true).map(\.number) == [2, 4])
        }
    }

    @Test func `a file with other content is not changed`() async throws {
        try await Self.with { path in
            try Data("hello\n".utf8).write(to: URL(fileURLWithPath: path))
            #expect(throws: LineFile.Unusable.self) { try LineFile.read(path) }
        }
    }

    @Test func `a file that is replaced with no lines is removed`() async throws {
        try await Self.with { path in
            try LineFile.replace(path, with: [Self.line(1)])
            #expect(try LineFile.read(path) == [Self.line(1)])
            try LineFile.replace(path, with: [])
            #expect(!FileManager.default.fileExists(atPath: path))
        }
    }
}

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

@Suite struct TransferResultTests {
    private func result(email: String, claim: Bool?) throws -> TransferResult {
        let id = try #require(AccountID("acc_01a1fca9-f8eb-75d6-b13c-5e1eee143be1"))
        let user = MigratedUser(subject: "new", email: email, isPrivateEmail: claim)
        return try #require(TransferResult(accountID: id, user: user))
    }

    @Test(
        arguments: [
            ("a@example.com", nil, nil), ("a@example.com", false, false), ("a@example.com", true, true),
            ("a@privaterelay.appleid.com", nil, true), ("a@privaterelay.appleid.com", false, false),
        ] as [(String, Bool?, Bool?)])
    func `is_private_email comes from Apple's claim or domain`(
        email: String, claim: Bool?, expected: Bool?
    ) throws {
        let result = try result(email: email, claim: claim)
        #expect(result.email?.isPrivate == expected)
        #expect(result.json["is_private_email"]?.bool == expected)
        #expect(TransferResult(result.json) == result)
    }
}
