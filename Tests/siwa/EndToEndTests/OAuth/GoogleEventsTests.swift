import AppleEmulator
import Foundation
import GoogleEmulator
import ScriptedHTTP
import SiwaBinary
import StrictJSON
import TestSupport
import Testing

@testable import Composition

/// `siwa google risc` with the fake Google and a running service.
@Suite(.serialized, .timeLimit(.hung)) struct GoogleEventsTests {
    /// The service, the fake Google, and a directory with key files.
    private struct System {
        let process: DevelopmentProcess
        let directory: TemporaryDirectory

        var receiver: String { "\(process.service)/v1/google/security-events" }

        static func with(_ body: (System) async throws -> Void) async throws {
            try await TemporaryDirectory.with { directory in
                try await DevelopmentProcess.with(["--database", "sqlite://dev.sqlite"], in: directory) {
                    try await body(System(process: $0, directory: directory))
                }
            }
        }

        /// Makes a service account at the fake Google, and returns the path of its key file.
        func account(_ members: String = "{}", mode: Int = 0o600) async throws -> String {
            let path = directory.path(of: "risc-\(UUID().uuidString).json")
            let json = try await control("POST", "service-accounts", members)
            try Data(json.utf8).write(to: URL(fileURLWithPath: path))
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
            return path
        }

        @discardableResult
        func control(_ method: String, _ path: String, _ body: String = "{}") async throws -> String {
            let run = try await ProgramRun.named(
                "curl",
                ["-sS", "-X", method, "\(process.google)/control/\(path)", "-d", body]
            ).checked()
            return run.output
        }

        /// Runs a command with the fake Google, and checks that it prints no secret.
        func risc(_ command: String, _ file: String, _ options: String...) async throws -> ProgramRun {
            let run = try await ProgramRun.of(
                BuiltSiwa.url(),
                ["google", "risc", command, "--service-account-file", file, "--google-url", process.google]
                    + options, environment: ["PATH": "/usr/bin:/bin"], in: directory.path)
            for secret in ["PRIVATE KEY", "eyJ"] { #expect(!run.output.contains(secret)) }
            return run
        }
    }

    /// The lines of a shell in a section of the page, the last block.
    private static func lines(of title: String) throws -> String {
        let page = try ProjectFolder.text("docs/google-events.md")
        let section = try #require(page.components(separatedBy: "## \(title)\n").last)
            .components(separatedBy: "\n## ")[0]
        return try #require(section.components(separatedBy: "```sh\n").last).components(separatedBy: "```")[0]
    }

    @Test func `the lines of the page register the receiver, receive the test event, and stop the events`()
        async throws
    {
        try await System.with { system in
            let lines = try Self.lines(of: "Try the registration")
            let program = try BuiltSiwa.url().path
            let run = try await ProgramRun.of(
                URL(fileURLWithPath: "/bin/sh"),
                ["-ec", "siwa() { '\(program)' \"$@\"; }\n" + system.process.own(lines)],
                environment: ["PATH": "/usr/bin:/bin"], in: system.directory.path
            ).checked()
            let words = [
                "receiver          \(system.receiver)", "status            enabled", "sessions-revoked",
                "test event        received at 20", "status            disabled", #""as_configured":true"#,
            ]
            for word in words { #expect(run.output.contains(word), "\(word) in \(run.output)") }
            #expect(!run.output.contains("warning"), "\(run.output)")
        }
    }

    @Test func `status tells the difference, and each command can be repeated`() async throws {
        try await System.with { system in
            let file = try await system.account()
            let url = ["--url", system.receiver]
            let none = try await system.risc("status", file, url[0], url[1])
            #expect(none.status == 1 && none.output.contains("nothing is registered"), "\(none.output)")
            let nothing = try await system.risc("unregister", file)
            #expect(nothing.status == 0 && nothing.output.contains("not registered"), "\(nothing.output)")
            for _ in 0..<2 {
                try await system.risc("register", file, url[0], url[1]).checked()
            }
            let other = try await system.risc(
                "status", file, "--url", "\(system.process.service)/other", "--json")
            #expect(other.status == 1, "\(other.output)")
            let json = try JSONValue(parsing: Array(other.output.utf8))
            #expect(json["as_configured"] == false && json["registered"] == true)
            #expect(json["url"]?.string == system.receiver)
            for _ in 0..<2 {
                let run = try await system.risc("unregister", file)
                #expect(run.status == 0 && run.output.contains("disabled"), "\(run.output)")
            }
            // A disabled stream sends no test event.
            let database = ["--database", "sqlite://\(system.directory.path(of: "dev.sqlite"))"]
            let disabled = try await system.risc("verify", file, database[0], database[1])
            #expect(disabled.status == 1 && disabled.output.contains("400"), "\(disabled.output)")
            let again = try await system.risc("register", file, url[0], url[1])
            #expect(again.status == 0 && again.output.contains("enabled"), "\(again.output)")
        }
    }

    @Test func `a test event that reaches another address is missed`() async throws {
        try await System.with { system in
            let file = try await system.account()
            _ = try await system.risc("register", file, "--url", "\(system.process.service)/nowhere")
            let run = try await system.risc(
                "verify", file, "--database", "sqlite://\(system.directory.path(of: "dev.sqlite"))",
                "--timeout", "1")
            #expect(run.status == 1)
            #expect(run.output.contains("no test event has arrived within 1 s"), "\(run.output)")
        }
    }

    @Test func `every refusal of Google says what to do`() async throws {
        try await System.with { system in
            let file = try await system.account()
            for (status, words) in [
                (401, "the clock of this machine"), (403, "roles/riscconfigs.admin"),
                (404, "run siwa google risc register"), (429, "too many calls"), (500, "try again"),
            ] {
                try await system.control("PUT", "faults/stream", "{\"status\":\(status),\"times\":1}")
                let run = try await system.risc("register", file, "--url", system.receiver)
                #expect(run.status == 1)
                #expect(run.output.contains("\(status)") && run.output.contains(words), "\(run.output)")
            }
            let foreign = try await system.risc("register", file, "--url", "https://other.example/events")
            #expect(foreign.status == 1 && foreign.output.contains("Authorized domains"), "\(foreign.output)")
            for (members, words) in [
                (#"{"role":false}"#, "roles/riscconfigs.admin"), (#"{"api":false}"#, "Enable the RISC API"),
            ] {
                let run = try await system.risc(
                    "register", try await system.account(members), "--url", system.receiver)
                #expect(run.status == 1 && run.output.contains(words), "\(run.output)")
            }
        }
    }

    @Test func `a file that others can read is warned of, and one of Google's own is not used here`()
        async throws
    {
        try await System.with { system in
            let open = try await system.account(mode: 0o644)
            let run = try await system.risc("unregister", open)
            #expect(run.status == 0 && run.output.contains("chmod 600"), "\(run.output)")
            let text = try String(contentsOfFile: open, encoding: .utf8)
                .replacing(".gserviceaccount.invalid", with: ".gserviceaccount.com")
            try text.write(toFile: open, atomically: true, encoding: .utf8)
            let real = try await system.risc("unregister", open)
            #expect(real.status == 1 && real.output.contains("Google alone"), "\(real.output)")
            let missing = try await system.risc("unregister", "/nonexistent/risc.json")
            #expect(missing.status == 1 && missing.output.contains("cannot be read"), "\(missing.output)")
        }
    }

    @Test(arguments: ObservedDatabase.Store.allCases)
    func
        `with the configuration of the service, any replica may receive the test event, and the doctor tells`(
            store: ObservedDatabase.Store
        ) async throws
    {
        try await LinkedSystem.with(store) { system in
            // SQLite has one process.
            let receiving = store == .postgres ? 1 : 0
            var replicas = [try await system.serve(0)]
            if receiving == 1 { replicas.append(try await system.serve(1)) }
            let base = try #require(system.google.redirectURIs.first?.components(separatedBy: "/r/").first)
            let made = try await ProgramRun.named(
                "curl",
                ["-sS", "-X", "POST", "\(base)/control/service-accounts", "-d", "{}"])
            let file = [
                "SIWA_GOOGLE_SERVICE_ACCOUNT_FILE": try system.directory.write(made.output, to: "risc.json")
            ]
            func finding() async throws -> (result: String, text: String) {
                let run = try await system.run(["doctor", "--json"], file)
                let checks = try JSONValue(parsing: Array(run.output.utf8))["checks"]?.array ?? []
                let found = try #require(checks.first { $0["check"] == "Google events" })
                return (found["result"]?.string ?? "", found["text"]?.string ?? "")
            }
            let before = try await finding()
            #expect(before.result == "wrong")
            #expect(before.text == "nothing is registered at Google; no event in the last 30 days")

            let url = "http://127.0.0.1:\(system.ports[receiving])/v1/google/security-events"
            for command in [["register", "--url", url], ["verify"], ["register"], ["status"]] {
                try await system.run(["google", "risc"] + command, file).checked()
            }
            let after = try await finding()
            #expect(after.result == "ok" && after.text.hasPrefix("registered, last event 20"), "\(after)")
            for replica in replicas { #expect(await replica.stop() == 0) }
        }
    }

    /// PyJWT as a second opinion.
    @Test func `the token is the service account's own, as Google wants it`() async throws {
        try await System.with { system in
            let file = try await system.account()
            let server = try await ScriptedServer(always: .sendAndClose("HTTP/1.1 404 Not Found\r\n\r\n"))
            _ = try await ProgramRun.of(
                BuiltSiwa.url(),
                [
                    "google", "risc", "unregister", "--service-account-file", file, "--google-url",
                    server.baseURL,
                ], environment: ["PATH": "/usr/bin:/bin"], in: system.directory.path)
            let head = try #require(server.requests.first)
            try await server.close()
            let line = try #require(
                head.split(whereSeparator: \.isNewline).first { $0.lowercased().hasPrefix("authorization:") })
            let token = try #require(line.split(separator: " ").last)
            let run = try await PythonTools.run(
                "python", [PythonTools.client("service_account_token.py"), file, String(token)],
                in: system.directory)
            #expect(run.status == 0 && run.output.contains("done"), "\(run.output)")
        }
    }
}

/// Links with Google that end at several replicas at once, for several reasons.
@Suite(.serialized, .timeLimit(.hung)) struct GoogleReportRaceTests {
    private enum Way: CaseIterable { case unlinked, erased, signedOut, withdrawn }

    private struct Linked: Sendable {
        let way: Way
        let user: EmulatedUser
        let account: String
        let grant: JSONValue
        let refreshToken: String
    }

    @Test(arguments: ObservedDatabase.Store.allCases)
    func `each ended link is reported under one jti, when replicas race to end it`(
        store: ObservedDatabase.Store
    ) async throws {
        try await LinkedSystem.with(store) { system in
            let replicas = try await system.replicas(store == .postgres ? 2 : 1)
            var links: [Linked] = []
            for way in Array(repeating: Way.allCases, count: 4).flatMap({ $0 }) {
                links.append(try await Self.link(way, system, at: try #require(replicas.all.first)))
            }
            // Every replica ends every link, and the replicas work on the same link at the same time.
            try await withThrowingTaskGroup(of: Void.self) { group in
                for link in links {
                    let payload = try await system.revocation(of: link.user)
                    for replica in replicas.all + replicas.all {
                        group.addTask { try await Self.end(link, payload, at: replica) }
                    }
                }
                try await group.waitForAll()
            }
            let expected = Set(links.map { OAuthCrashTests.hash($0.refreshToken) })
            try await eventually { expected.isSubset(of: system.google.receivedEvents.map(\.tokenHash)) }
            try await eventually { try await system.isGoogleUpToDate() }
            let list = try await system.run(["deliveries", "list"])
            #expect(list.output == "google: up to date\n")
            // The fake Google has one entry for each `jti`.
            let told = system.google.receivedEvents.map(\.tokenHash)
            #expect(told.count == links.count && Set(told) == expected)
            #expect(await replicas.stop())
        }
    }

    private static func link(
        _ way: Way, _ system: LinkedSystem, at replica: ServiceProcess
    ) async throws -> Linked {
        let user = try system.makeUser()
        let code = try await replica.flip(.token(try await system.identityToken(of: user)))
        let link = try ServiceProcess.Link(try await replica.redeem(code))
        let account = try #require(try await replica.introspect(link.accessToken)["sub"]?.string)
        return Linked(
            way: way, user: user, account: account,
            grant: try #require(try await replica.grants(of: account).first), refreshToken: link.refreshToken)
    }

    /// The other replica may be first, so the response can say that nothing is left.
    private static func end(_ link: Linked, _ payload: String, at replica: ServiceProcess) async throws {
        let status: Int
        switch link.way {
        case .unlinked: status = Int(try await replica.unlink(link.grant, of: link.account).status)
        case .erased: status = Int(try await replica.backend.delete("/v1/accounts/\(link.account)").status)
        case .signedOut:
            status = Int(
                try await replica.backend.post("/v1/accounts/\(link.account)/sign-out", [("google", true)])
                    .status)
        case .withdrawn: status = Int(try await replica.backend.notify(payload).status)
        }
        #expect([200, 202, 204, 404].contains(status), "\(link.way)")
    }
}
