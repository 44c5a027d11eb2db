import Foundation
import StrictJSON
import TestSupport
import Testing

@testable import siwa

/// Runs the commands of `siwa tour`, which `siwa dev` names.
@Suite struct WalkthroughTests {
    @Test func `the printed walk-through works line by line`() async throws {
        try await TemporaryDirectory.with { directory in
            let printed = URL(fileURLWithPath: "\(directory.path)/printed.txt")
            let log = URL(fileURLWithPath: "\(directory.path)/log.txt")
            let process = try ServiceProcess.start(
                ["dev", "--port", "\(try FreePort.find())", "--emulator-port", "0"],
                ["PATH": "/usr/bin:/bin", "TMPDIR": directory.path],
                in: directory, output: printed, error: log)
            try await ServiceProcess.stopping(process) {
                try await eventually {
                    try String(contentsOf: printed, encoding: .utf8).contains("Ctrl-C")
                }
                // The whole text was written at once.
                let banner = try String(contentsOf: printed, encoding: .utf8)
                #expect(banner.split(separator: "\n", omittingEmptySubsequences: false).count <= 24)
                let tour = try #require(banner.firstMatch(of: /(\S+) (tour(?: --[a-z-]+ \S+)*)/))
                let options = tour.2.split(separator: " ").map(String.init)
                let program = URL(fileURLWithPath: String(tour.1))
                let lines = try await ProgramRun.of(program, options + ["--print"]).output.split(
                    separator: "\n")
                let script = lines.flatMap { Self.further(before: $0) + [String($0)] }
                let responses = try await Self.paste(script.joined(separator: "\n"))
                let json = responses.compactMap {
                    try? JSONValue(parsing: Array($0.utf8), limits: JSONLimits(depth: 8, members: 64))
                }
                #expect(json.count == 14)
                let signIns = json.filter { $0["account"] != nil }
                #expect(signIns.map { $0["is_new_account"]?.bool } == [true, false])
                #expect(signIns[0]["account"]?["first_name"]?.string == "Ada")
                #expect(signIns[0]["account"]?["id"] == signIns[1]["account"]?["id"])
                #expect(json.compactMap { $0["is_new_key"]?.bool } == [true])
                #expect(signIns.map { $0["app_check"]?["kind"]?.string } == ["unknown_origin", "verified"])
                let accounts = json.filter { $0["email_forwarding"] != nil && $0["credentials"] != nil }
                #expect(accounts.map { $0["email_forwarding"]?.string } == ["unknown", "disabled"])
                let held = accounts[0]["credentials"]?.array?.first?["refresh_token"]?.string
                #expect(held == "held")
                let grants = json.compactMap { $0["grants"]?.array?.first }.first
                #expect((grants?["refreshes"]?.integer ?? 0) > 0)
                #expect(grants?["throttled"]?.integer == 0)
                #expect(json.compactMap { $0["reason"]?.string } == ["consent_revoked"])
                #expect(
                    json.compactMap { $0["code"]?.string } == ["credential_revoked", "account_not_found"])
                let report = json.compactMap { $0["erasure"] }.first
                #expect(report?["state"]?.string == "completed")
                #expect(report?["tokens"]?.array?.first?["outcome"]?.string == "revoked_and_proven")
                let events = json.last { $0["events"] != nil }?["events"]?.array?.map { $0["type"]?.string }
                #expect(
                    events == [
                        "account_created", "credential_authorized", "email_forwarding_changed",
                        "credential_revoked",
                        "credential_authorized", "credential_revoked", "account_erased",
                    ])

                // The revocation is at both receivers.
                let messages = responses.suffix(2).sorted()
                for (message, receiver) in zip(messages, ["push", "webhook"]) {
                    let form =
                        /([a-z]+), credential_revoked, verified, (\d+) ms after the commit, attempt 1, .*/
                    let match = try #require(message.wholeMatch(of: form), "\(messages)")
                    #expect(match.1 == receiver)
                    // At once, with room for a busy machine.
                    #expect((Int(match.2) ?? .max) < 5000)
                }

                // The same with another user, one step per Enter.
                let walk = try await ProgramRun.of(
                    URL(fileURLWithPath: "/bin/sh"), ["-c", "yes '' | \(tour.1) \(tour.2)"])
                #expect(walk.output.contains("The tour is complete."), "\(walk.output)")
                #expect(walk.output.components(separatedBy: "Enter runs it").count == 13)
                for step in 1...12 { #expect(walk.output.contains("\nStep \(step) of 12\n")) }
                // A pipe gets neither colors nor folded lines.
                #expect(!walk.output.contains("\u{1B}") && walk.output.contains(" {\"account\":{"))
                let port = try #require(tour.2.firstMatch(of: /--port (\d+)/)?.1)
                let page = try await ProgramRun.of(
                    URL(fileURLWithPath: "/bin/sh"),
                    ["-c", "curl -sS -i http://127.0.0.1:\(port)/console/start"]
                ).output
                #expect(page.hasPrefix("HTTP/1.1 200") && page.contains("text/html"))
                #expect(
                    page.contains("The fake Apple")
                        && page.contains("/v1/web/sign-in?client_id=com.example.web"))
                let root = try await ProgramRun.of(
                    URL(fileURLWithPath: "/bin/sh"), ["-c", "curl -sS -i -L http://127.0.0.1:\(port)/"]
                ).output
                #expect(root.contains("What is wrong now"))
            }
        }
    }

    /// Further checks, for which the walk-through has no room.
    private static func further(before line: Substring) -> [String] {
        let account = #"curl -sS "$SIWA/v1/accounts?client_id=com.example.app&sub=$SUB" -H "$KEY"; echo"#
        return switch line {
        case _ where line.contains("/revoke-consent") && line.contains("/v1/credentials/"):
            [
                // By then the refresh token was validated at the fake Apple at least once.
                "sleep 8; curl -sS $APPLE/emulator/users/$SUB",
                #"curl -sS -X POST "$APPLE/emulator/users/$SUB/disable-email-forwarding?format=text"; echo"#,
                account,
            ]
        case _ where line.contains("/v1/events"): [account]
        default: []
        }
    }

    @Test func `the walk-through has at most 12 commands`() {
        let lines = Self.walkthrough.lines.split(separator: "\n").filter { !$0.hasPrefix("#") }
        #expect(lines.count <= 12)
    }

    @Test func `a long response is folded, with one member a line and tokens cut`() {
        let token = String(repeating: "e", count: 800)
        let folded = FoldedResponse(columns: 40)
        #expect(
            folded.lines(of: #"{"id":"acc_1","n":{"a":[1,2],"b":true},"token":"\#(token)","none":{}}"#) == [
                "{", #"  "id": "acc_1","#, #"  "n": {"a":[1,2],"b":true},"#,
                #"  "token": "eeeeee"... (800 characters),"#, #"  "none": {}"#, "}",
            ])
        #expect(folded.lines(of: #"{"id":"acc_1"}"#) == [#"{"id":"acc_1"}"#])
        #expect(folded.lines(of: "push, verified, 12 ms after the commit, attempt 1").count == 2)
        #expect(folded.lines(of: "") == [""])
    }

    @Test func `the README has the same lines`() throws {
        let root = ProjectFolder.root
        let readme = try String(contentsOf: root.appendingPathComponent("README.md"), encoding: .utf8)
        #expect(readme.contains("```sh\n\(Self.walkthrough.lines)\n```"))
    }

    private static let walkthrough = Walkthrough(
        servicePort: 8080, applePort: 8081, receiverPort: 8083, secret: DevelopmentSettings.secret,
        clientID: "com.example.app")

    /// The output lines of the shell.
    private static func paste(_ script: String) async throws -> [Substring] {
        let shell = URL(fileURLWithPath: "/bin/sh")
        let run = try await ProgramRun.of(shell, ["-c", script])
        return run.output.split(separator: "\n")
    }
}
