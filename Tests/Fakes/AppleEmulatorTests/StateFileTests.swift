import AppleEmulator
import EmulatorServer
import Foundation
import NIOHTTP1
import StrictJSON
import TestSupport
import Testing

@Suite struct StateFileTests {
    /// Runs `body` with the name of a file that does not exist yet.
    private func withFile(_ body: (String) async throws -> Void) async throws {
        try await TemporaryDirectory.with { try await body($0.path(of: "state")) }
    }

    private func run(_ path: String, _ body: (EmulatorUnderTest) async throws -> Void) async throws {
        try await EmulatorUnderTest.run {
            $0.stateFile = path
        } _: { apple in
            try await body(apple)
        }
    }

    @Test func `continues with the stored state`() async throws {
        try await withFile { path in
            var (token, throttled, code, subject, keyID) = ("", "", "", "", "")
            try await run(path) { apple in
                subject =
                    try await apple.post("/emulator/users", #"{"first_name":"Ada"}"#).json["sub"]?.string
                    ?? ""
                let members = #"{"code":true,"sub":"\#(subject)"}"#
                token = try await apple.refreshToken(members)
                throttled = try await apple.refreshToken()
                #expect(try await apple.refresh(throttled).status == 200)
                code = try await apple.code(members)
                keyID = try await apple.post("/emulator/keys").json["kid"]?.string ?? ""
                _ = try await apple.send(
                    .PUT, "/emulator/redirect-uris", body: #"{"redirect_uris":["https://example.com/x"]}"#)
                _ = try await apple.post("/emulator/teams/TEAM000002/client-keys", #"{"kid":"SECOND0000"}"#)
                _ = try await apple.post("/emulator/clock", #"{"advance_seconds":60}"#)
            }
            try await run(path) { apple in
                #expect(apple.emulator.state.users.map(\.subject).contains(subject))
                // Assigned addresses are not assigned again.
                _ = try await apple.post("/emulator/users", #"{"first_name":"Ada"}"#)
                let addresses = apple.emulator.state.users.map(\.email)
                #expect(Set(addresses).count == addresses.count)
                #expect(try await apple.publishedKeyIDs().contains(keyID))
                #expect(try await apple.exchange(code).status == 200)
                #expect(try await apple.refresh(token).status == 200)
                #expect(try await apple.refresh(throttled).status == 429)
                #expect(apple.emulator.state.apps[0].redirectURIs == ["https://example.com/x"])
                #expect(apple.emulator.state.clientKeys.map(\.keyID) == [TestKeys.clientKeyID, "SECOND0000"])
                #expect(apple.emulator.state.now == apple.clock.milliseconds + 60_000)
                // The consent is from the previous run.
                let again = try await apple.post("/emulator/identity-tokens", #"{"sub":"\#(subject)"}"#).json
                #expect(again["user"] == nil)
            }
        }
    }

    @Test(arguments: [true, false])
    func `does not write into an existing temporary file`(isLink: Bool) async throws {
        try await withFile { path in
            let files = FileManager.default
            let other = "\(path).other"
            // Left by a crash, or created by another user of the directory.
            #expect(files.createFile(atPath: other, contents: Data("other".utf8)))
            try files.setAttributes([.posixPermissions: 0o644], ofItemAtPath: other)
            if isLink {
                try files.createSymbolicLink(atPath: "\(path).new", withDestinationPath: other)
            } else {
                try files.copyItem(atPath: other, toPath: "\(path).new")
            }
            try await run(path) { _ in }
            let attributes = try files.attributesOfItem(atPath: path)
            #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
            #expect(attributes[.type] as? FileAttributeType == .typeRegular)
            #expect(try String(contentsOfFile: other, encoding: .utf8) == "other")
        }
    }

    @Test func `stores the owner of an app`() async throws {
        try await withFile { path in
            var subject: JSONValue?
            try await run(path) { apple in
                _ = try await apple.post("/emulator/transfers", #"{"team_id":"TEAM000002"}"#)
                subject = try await apple.mint().claims["sub"]
            }
            try await run(path) { apple in
                #expect(apple.emulator.state.apps[0].teamID == "TEAM000002")
                let claims = try await apple.mint().claims
                #expect(claims["sub"] == subject)
                #expect(claims["transfer_sub"] != nil)
            }
        }
    }

    @Test func `retries notifications that were not accepted before`() async throws {
        try await withFile { path in
            try await run(path) { apple in
                var plan = DeliveryPlan()
                plan.holds = true
                try apple.emulator.state.setDeliveryPlan(plan)
                try apple.emulator.state.setNotificationURL("http://127.0.0.1:1/")
                _ = try await apple.post("/emulator/users/default/revoke-consent")
            }
            try await run(path) { apple in #expect(apple.emulator.state.waitingNotifications.count == 1) }
        }
    }

    /// A killed emulator writes nothing more, so the next run reads the file as of the last response.
    @Test func `the file contains the state of every response`() async throws {
        try await withFile { path in
            try await run(path) { apple in
                let token = try await apple.refreshToken()
                try FileManager.default.copyItem(atPath: path, toPath: "\(path).crashed")
                try await run("\(path).crashed") { next async throws in
                    #expect(try await next.refresh(token).status == 200)
                }
                // Also when the connection was cut after the work.
                _ = try await apple.send(.PUT, "/emulator/faults/revoke", body: #"{"cut":"before_answer"}"#)
                await #expect(throws: (any Error).self) { try await apple.revoke(token) }
                // The next response comes after the file was written.
                _ = try await apple.send(.DELETE, "/emulator/faults")
                try FileManager.default.copyItem(atPath: path, toPath: "\(path).cut")
                try await run("\(path).cut") { next async throws in
                    #expect(try await next.refresh(token).error == "invalid_grant")
                }
            }
        }
    }

    @Test func `can be read only by its owner`() async throws {
        try await withFile { path in
            try await run(path) { _ in
                let attributes = try FileManager.default.attributesOfItem(atPath: path)
                #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
            }
        }
    }

    @Test(arguments: ["", "{}", "siwa emulator state 1 00\n{}", "truncated", "flipped", "longer"])
    func `refuses a damaged file, and does not change it`(damage: String) async throws {
        try await withFile { path in
            try await run(path) { apple in _ = try await apple.mint() }
            let url = URL(fileURLWithPath: path)
            var content = try Data(contentsOf: url)
            switch damage {
            case "truncated": content.removeLast(10)
            case "flipped": content[content.count / 2] ^= 1
            case "longer": content.append(UInt8(ascii: " "))
            default: content = Data(damage.utf8)
            }
            try content.write(to: url)
            await #expect(throws: EmulatorError(.stateFileDamaged)) { try await run(path) { _ in } }
            #expect(try Data(contentsOf: url) == content)
        }
    }

    @Test func `reports at the start that it cannot write`() async throws {
        await #expect(throws: EmulatorError(.stateFileUnwritable)) {
            try await run("/nowhere/at/all") { _ in }
        }
    }

    @Test func `writes once for concurrent callers`() async throws {
        try await withFile { path in
            try await run(path) { apple in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for number in 0..<40 {
                        group.addTask {
                            _ = try await apple.post("/emulator/users", #"{"sub":"u\#(number)"}"#)
                        }
                    }
                    try await group.waitForAll()
                }
                try FileManager.default.copyItem(atPath: path, toPath: "\(path).copy")
                try await run("\(path).copy") { next in #expect(next.emulator.state.users.count == 41) }
            }
        }
    }

    /// The later emulator would overwrite the state of the first.
    @Test func `a second emulator with the same file is refused, and the first keeps its users`() async throws
    {
        try await withFile { path in
            try await run(path) { apple in
                await #expect(throws: EmulatorError(.stateFileUnwritable)) { try await run(path) { _ in } }
                _ = try await apple.post("/emulator/users", #"{"sub":"kept"}"#)
            }
            try await run(path) { apple in
                #expect(apple.emulator.state.users.contains { $0.subject == "kept" })
            }
        }
    }
}
