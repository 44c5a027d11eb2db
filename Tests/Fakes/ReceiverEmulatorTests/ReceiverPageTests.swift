import Encodings
import Foundation
import NIOHTTP1
import ReceiverEmulator
import StrictJSON
import TestSupport
import Testing

@Suite(.receivers(), .timeLimit(.hung)) struct ReceiverPageTests {
    let receiver = ReceiverUnderTest.current

    @Test func `the page has no script, a strict policy, and no secret`() async throws {
        _ = try await receiver.postWebhook()
        _ = try await receiver.pushGood()
        let page = try await receiver.get("/")
        #expect(page.status == 200)
        #expect(!page.text.contains("<script"))
        let policy = page.headers.first(name: "Content-Security-Policy") ?? ""
        #expect(policy.contains("default-src 'none'") && policy.contains("form-action 'self'"))
        #expect(!page.text.contains(ReceiverUnderTest.secret))
        #expect(page.headers.first(name: "Refresh") == nil)
        let words = page.text.replacing(/<[^>]*>/, with: "").replacing(/\s+/, with: " ")
        for expected in [
            "credential_revoked verified", "Webhook · 40 ms after the commit · attempt 1 · answered 204",
            "Security event tokens · 40 ms after the commit · attempt 1 · answered 202", "siwa says",
        ] { #expect(words.contains(expected), "\(expected) in \(words)") }
        #expect(try await receiver.get("/?watch=1").headers.first(name: "Refresh") == "2")
    }

    @Test func `the control API describes itself as the table of the page does, and has a page`() async throws
    {
        let page = try String(
            contentsOf: ProjectFolder.root.appending(path: "docs/emulator.md"), encoding: .utf8)
        let document = try await receiver.get("/control/openapi.json")
        let table = CallTable(of: page, below: "## Receivers of events")
        let differences = try table.differences(from: Data(document.text.utf8))
        #expect(differences == [])
        for code in try FakeSource.errorCodes(in: "ReceiverEmulator/ReceiverState.swift") {
            #expect(document.text.contains("\"\(code)\""), "\(code)")
        }
        #expect(document.text.contains(#""required":["fault"]"#))
        #expect(try await receiver.get("/").text.contains("href=\"/control/api\""))
        #expect(try await receiver.get("/control/api").text.contains("an integer, 1 to 60</td>"))
    }

    @Test(arguments: [
        "<script>alert(1)</script>", "</pre><img src=x onerror=alert(1)>", "\"><b>", "&lt;i&gt;",
        "]]><svg/onload=1>",
    ])
    func `markup in messages is text`(markup: String) async throws {
        let text = markup.replacing("\"", with: "\\\"")
        let event = ReceiverUnderTest.event(type: text, account: text)
        // A verified message, and three that are refused.
        #expect(try await receiver.postWebhook(event).status == 204)
        _ = try await receiver.postWebhook(markup)
        _ = try await receiver.push(markup)
        _ = try await receiver.push(try receiver.token({ _ in }, { $0["iss"] = .string(markup) }))
        let page = try await receiver.get("/").text
        #expect(!page.contains(markup))
        #expect(page.contains(markup.htmlEscaped))
        // The words of the service too.
        #expect(page.contains("3 events &lt;b&gt;wait&lt;/b&gt;"))
        let lines = try await receiver.control(.GET, "messages?format=text").text
        #expect(lines.split(separator: "\n").count == 4)
    }

    @Test func `a message cannot move the cursor of a terminal`() async throws {
        let event = ReceiverUnderTest.event(type: #"a\u001b[2J"#)
        #expect(try await receiver.postWebhook(event).status == 400)
        #expect(try await receiver.postWebhook(ReceiverUnderTest.event(type: "é\u{202E}")).status == 204)
        let lines = try await receiver.control(.GET, "messages?format=text").text
        #expect(lines.utf8.allSatisfy { (0x20...0x7E).contains($0) || $0 == 0x0A })
    }

    @Test func `breaks and recovers by the buttons, and forgets the messages`() async throws {
        _ = try await receiver.postWebhook()
        let broken = try await receiver.submit(
            "/faults", [("receiver", "push"), ("fault", "slow"), ("seconds", "7"), ("action", "break")])
        #expect(broken.status == 303)
        #expect(try await receiver.control(.GET, "faults").json?["push"]?["seconds"]?.integer == 7)
        #expect(try await receiver.get("/").text.contains("It is slow: it answers after 7 s"))
        _ = try await receiver.submit("/faults", [("receiver", "push"), ("action", "recover")])
        #expect(try await receiver.control(.GET, "faults").text == "{}\n")
        _ = try await receiver.submit("/clear", [])
        #expect(receiver.state.messages.isEmpty)
        for fields in [
            [("receiver", "mail"), ("action", "recover")], [("receiver", "push"), ("action", "dance")],
            [("receiver", "push"), ("action", "break"), ("fault", "tired")],
            [("receiver", "push"), ("action", "break"), ("fault", "slow"), ("seconds", "0")],
        ] {
            let refused = try await receiver.submit("/faults", fields.map { (name: $0.0, value: $0.1) })
            #expect((400...404).contains(refused.status), "\(fields)")
        }
    }

    @Test func `pages of other sites, and forms of an earlier run, are kept out`() async throws {
        #expect(try await receiver.get("/", headers: ["Host": "evil.example"]).status == 421)
        let foreign = try await receiver.send(
            .POST, "/clear", headers: ["Origin": "https://evil.example"], body: "token=x")
        #expect(foreign.status == 403)
        let old = try await receiver.send(.POST, "/clear", body: "token=x")
        #expect(old.json?["code"]?.string == "page_outdated")
        let control = try await receiver.send(
            .DELETE, "/control/messages", headers: ["Origin": "http://127.0.0.1:\(receiver.port)"])
        #expect(control.json?["code"]?.string == "browser_refused")
    }

    @Test func `shows messages to programs, by receiver and by type`() async throws {
        _ = try await receiver.postWebhook()
        _ = try await receiver.pushGood()
        _ = try await receiver.postWebhook(
            ReceiverUnderTest.event("evt_2", type: "account_erased"), id: "evt_2")
        func ids(_ query: String) async throws -> [String?] {
            let json = try await receiver.control(.GET, "messages?\(query)").json
            return json?["messages"]?.array?.map { $0["id"]?.string } ?? []
        }
        #expect(try await ids("") == ["evt_1", "evt_1", "evt_2"])
        #expect(try await ids("receiver=push") == ["evt_1"])
        #expect(try await ids("type=account_erased") == ["evt_2"])
        #expect(try await ids("limit=1") == ["evt_2"])
        let line = try await receiver.control(.GET, "messages?format=text&receiver=push").text
        let words = "push, credential_revoked, verified, 40 ms after the commit, attempt 1, answered 202"
        #expect(line == "\(words)\n")
        for (query, code) in [
            ("receiver=mail", "receiver_not_found"), ("limit=0", "parameter_malformed"),
            ("limit=201", "parameter_malformed"),
        ] { #expect(try await receiver.control(.GET, "messages?\(query)").json?["code"]?.string == code) }
        let message = try await receiver.control(.GET, "messages?limit=1").json?["messages"]?.array?.first
        #expect(message?["verdict"]?.string == "verified")
        #expect(message?["attempt"]?.integer == 1)
        #expect(message?["duplicate"]?.bool == false && message?["in_order"]?.bool == true)
        #expect(try await receiver.control(.DELETE, "messages").text == "{\"messages\":[]}\n")
    }
}
