import Cryptography
import Encodings
import Foundation
import NIOCore
import NIOHTTP1
import StrictJSON
import TestSupport
import Testing

/// The receivers of `siwa dev`: what a backend learns, and what a receiver that fails costs.
@Suite(.serialized, .timeLimit(.hung)) struct EventReceiverTests {
    @Test func `a revocation at Apple arrives at both receivers within a second, verified`() async throws {
        try await Self.with { world in
            // The fastest of three: other tests run at the same time.
            var fastest = Duration.seconds(60)
            for number in 1...3 {
                let user = try await world.signIn()
                try await eventually { try await world.ids("webhook").count == 3 * number - 1 }
                let began = ContinuousClock.now
                try await world.revoke(user)
                try await eventually {
                    try await world.messages("type=credential_revoked").count == 2 * number
                }
                fastest = min(fastest, ContinuousClock.now - began)
            }
            #expect(fastest < .seconds(1))
            let messages = try await world.messages("type=credential_revoked")
            for message in messages {
                #expect(message["verdict"] == "verified")
                #expect(message["attempt"]?.integer == 1 && message["duplicate"] == false)
                #expect(message["user"]?.string?.hasPrefix("acc_") == true)
            }
            #expect((messages.compactMap { $0["latency_ms"]?.integer }.min() ?? .max) < 1000)
            try await eventually {
                let overview = try await world.receiver(.GET, "")
                let words = overview["receivers"]?.array?.map { $0["status"]?.string }
                return words == ["up to date", "up to date"]
            }
        }
    }

    private static let faults = [
        #"{"fault":"down"}"#, #"{"fault":"slow","seconds":1}"#, #"{"fault":"error"}"#,
        #"{"fault":"redirect"}"#, #"{"fault":"huge_body"}"#, #"{"fault":"wrong_certificate"}"#,
        #"{"fault":"hang"}"#,
    ]

    @Test func `a receiver that fails misses nothing, in order for each account, and delays no other`()
        async throws
    {
        try await Self.with { world in
            for fault in Self.faults {
                let broken = fault.contains("certificate") ? "push" : "webhook"
                let other = broken == "push" ? "webhook" : "push"
                let cursor = try await world.backend.get("/v1/events?limit=1000")["cursor"]?.string ?? ""
                try await world.receiver(.DELETE, "messages")
                try await world.receiver(.PUT, "faults/\(broken)", fault)
                let users = try await [world.signIn(), world.signIn()]
                for user in users { try await world.revoke(user) }
                let page = try await world.backend.get("/v1/events?limit=1000&after=\(cursor)")
                let feed = page["events"]?.array?.compactMap { $0["id"]?.string } ?? []
                #expect(feed.count >= 6)
                let began = ContinuousClock.now
                try await eventually { try await world.ids(other).isSuperset(of: feed) }
                // The slow one alone needs a second for each.
                #expect(ContinuousClock.now - began < .seconds(feed.count), "\(fault)")
                if fault.contains("error") {
                    let overview = try await world.receiver(.GET, "")
                    let words = overview["receivers"]?.array?.first?["status"]?.string ?? ""
                    #expect(words.contains("failed since"), "\(words)")
                }
                try await world.receiver(.DELETE, "faults/\(broken)")
                // A claim that the recovery ended repeats events of the last fault too.
                try await eventually { try await world.ids(broken).isSuperset(of: feed) }
                for message in try await world.messages("") {
                    #expect(message["verdict"] == "verified", "\(fault)")
                    #expect(message["in_order"] == true, "\(fault)")
                }
            }
            #expect(try await world.receiver(.GET, "")["redirects_followed"]?.integer == 0)
        }
    }

    @Test func `without OAuth clients there is a webhook alone`() async throws {
        try await DevelopmentProcess.with(["--client-id", "com.example.app"]) { system in
            let world = World(system)
            try await world.revoke(try await world.signIn())
            try await eventually { try await world.ids("webhook").count == 3 }
            #expect(try await world.ids("push").isEmpty)
            let overview = try await world.receiver(.GET, "")
            #expect(overview["receivers"]?.array?.map { $0["url"] == nil } == [false, true])
        }
    }

    @Test func `the page shows what arrives, breaks and recovers by its buttons, and fits`() async throws {
        try await DevelopmentProcess.with { system in
            let world = World(system)
            try await Browser.with { browser in
                try await browser.open(system.receiver)
                try await browser.expectLooks("empty")
                #expect(try await browser.shows("None yet"))
                try await browser.press("Watch")
                let user = try await world.signIn()
                try await world.revoke(user)
                // The page reloads itself.
                try await browser.wait(for: "credential_revoked verified")
                try await browser.press("Stop watching")
                #expect(try await browser.shows("siwa says"))
                try await browser.expectLooks("messages")
                _ = try await browser.evaluate(
                    "document.querySelectorAll('details').forEach(d => d.open = true)")
                try await browser.expectLooks("open messages")
                let picked = "#webhook select[name=fault] option[value=error]"
                _ = try await browser.evaluate("document.querySelector('\(picked)').selected = true")
                try await browser.click("#webhook button[value=break]")
                try await browser.wait(for: "It fails: it answers 500")
                try await world.revoke(try await world.signIn())
                try await eventually {
                    try await browser.press("Reload")
                    return try await browser.shows("answered 500")
                }
                try await browser.expectLooks("broken")
                try await browser.press("Recover")
                try await eventually {
                    try await browser.press("Reload")
                    return try await browser.shows("attempt 2 · answered 204")
                }
                try await browser.expectLooks("recovered")
                #expect(try await browser.refusals() == [])
                _ = try await browser.tab()
                try await browser.expectFocusMark()
            }
        }
    }

    @Test func `the lines of the page on events work on siwa dev`() async throws {
        let page = try ProjectFolder.text("docs/events.md")
        let section = try #require(
            page.components(separatedBy: "\n## Try it on siwa dev\n").dropFirst().first)
        let script = try #require(section.components(separatedBy: "```sh\n").dropFirst().first)
            .components(separatedBy: "```")[0]
        try await DevelopmentProcess.with { system in
            let run = try await ProgramRun.named("sh", ["-ec", system.own(script)]).checked()
            let lines = run.output.split(separator: "\n")
            let messages = lines.filter { $0.hasPrefix("webhook, ") || $0.hasPrefix("push, ") }
            #expect(messages.allSatisfy { $0.contains(", verified, ") }, "\(messages)")
            let names = messages.map { $0.split(separator: ",").prefix(2).joined(separator: ",") }
            #expect(Set(names.prefix(2)) == ["webhook, credential_revoked", "push, credential_revoked"])
            // While the webhook is down, the tokens go on; then it gets what it missed.
            #expect(names.dropFirst(2) == ["push, sessions_ended", "webhook, sessions_ended"], "\(lines)")
            #expect(lines.contains { $0.contains("1 attempt failed since") }, "\(lines)")
        }
    }

    @Test func `siwa emulate runs the receivers alone, with the secret of a file`() async throws {
        try await TemporaryDirectory.with { directory in
            let key = SecureRandom.bytes(count: 32)
            let secret = try directory.write("whsec_\(Base64.encode(key))\n", to: "secret")
            try await DevelopmentProcess.printing(
                ["emulate", "--receiver", "--port", "0", "--webhook-secret-file", secret], until: "/push\n",
                in: directory
            ) { text in
                let url = try #require(text.firstMatch(of: /http:\S+\/webhook/)).0
                let body = #"{"id":"evt_1","type":"credential_revoked"}"#
                let now = Int64(Date().timeIntervalSince1970)
                for (key, status) in [(key, 204), (SecureRandom.bytes(count: 32), 400)] as [([UInt8], UInt)] {
                    let code = HMACSHA256(key: key).code(for: Array("evt_1.\(now).\(body)".utf8))
                    let response = try await TestClient.send(
                        .POST, String(url),
                        headers: [
                            ("content-type", "application/json"), ("webhook-id", "evt_1"),
                            ("webhook-timestamp", "\(now)"),
                            ("webhook-signature", "v1,\(Base64.encode(code))"),
                        ], body: Array(body.utf8))
                    #expect(response.status == status)
                }
            }
        }
    }

    private static func with(_ body: @Sendable (World) async throws -> Void) async throws {
        try await DevelopmentProcess.with(["--log-level", "error"]) { try await body(World($0)) }
    }
}

/// `siwa dev` with users at the fake Apple.
private struct World: Sendable {
    let system: DevelopmentProcess
    var backend: Backend { system.backend }

    init(_ system: DevelopmentProcess) { self.system = system }

    /// Signs a new user in, and returns the user's `sub`.
    func signIn() async throws -> String { try await system.signIn().subject }

    func revoke(_ subject: String) async throws { try await system.revoke(subject) }

    /// Calls the control API of the receivers.
    @discardableResult
    func receiver(_ method: HTTPMethod, _ path: String, _ body: String = "") async throws -> JSONValue {
        let answer = try await TestClient.send(
            method, "\(system.receiver)/control/\(path)", body: method == .GET ? nil : Array(body.utf8))
        #expect((200..<300).contains(answer.status), "\(answer.text)")
        return try #require(answer.json)
    }

    func messages(_ query: String) async throws -> [JSONValue] {
        try await receiver(.GET, "messages?\(query)")["messages"]?.array ?? []
    }

    /// IDs of the events that a receiver has taken.
    func ids(_ receiver: String) async throws -> Set<String> {
        let taken = try await messages("receiver=\(receiver)").filter { message in
            message["status"]?.integer.map { (200...299).contains($0) } ?? false
        }
        return Set(taken.compactMap { $0["id"]?.string })
    }

}
