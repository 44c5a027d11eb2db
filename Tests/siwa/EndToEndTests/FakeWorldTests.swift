import Foundation
import StrictJSON
import TestSupport
import Testing

@testable import Composition
@testable import siwa_dev

/// The fake world in the console of `siwa dev`, as a developer uses it.
@Suite(.serialized) struct FakeWorldTests {
    @Test func `people sign in at the start, and act from the console`() async throws {
        try await Self.with { system, world in
            let backend = system.backend
            #expect(try await backend.credential("ada")["state"] == "authorized")
            let people = try await world.get("/console/world")
            for words in ["Ada Lovelace", "Grace Hopper", "Katherine Johnson", "privaterelay.appleid.com"] {
                #expect(people.contains(words))
            }
            #expect(try await !world.get("/console/world?find=grace").contains("Ada Lovelace"))

            try await world.post("/console/world/people/ada/stop-using-app")
            #expect(try await backend.credential("ada")["state"] == "revoked")
            // A token of the same second as the end is refused: it may be older.
            try await eventually {
                try await world.form("/console/world/people/ada/sign-in-on-phone").status == 303
            }
            #expect(try await backend.credential("ada")["state"] == "authorized")
            // The name is markup, and stays text.
            try await world.post(
                "/console/world/people",
                [("first_name", "<b>Eve"), ("last_name", "\"\u{301} autofocus"), ("hides_email", "1")])
            let found = try await world.get("/console/world?find=eve")
            #expect(found.contains("&lt;b&gt;Eve &quot;\u{301} autofocus") && !found.contains("<b>Eve"))
            let path = try #require(
                found.firstMatch(of: #/href="(/console/world/people/[0-9a-f.]+)">&lt;b/#)?.1)
            try await world.post("\(path)/sign-in-on-web")
            try await world.post("\(path)", [("first_name", "Eve"), ("real_user_status", "1")])
            let person = try await world.get("\(path)")
            #expect(person.contains("<h1>Eve</h1>") && person.contains("com.example.app"))
            for action in ["change-forwarding", "change-password", "delete-account"] {
                try await world.post("\(path)/\(action)")
            }
            #expect(try await world.get("\(path)").contains(">deleted<"))
            #expect(try await world.status("/console/world/people/nobody") == 404)
            #expect(try await world.form("/console/world/people/nobody/sign-in-on-phone").status == 404)
        }
    }

    @Test func `a link with Google is a sequence of arrows, and each opens its exchange`() async throws {
        try await Self.with { _, world in
            try await world.post("/console/world/people/ada/link-with-google")
            let page = try await world.get("/console/world/exchanges")
            let labels = page.matches(of: #/<a href="([^"]*)" aria-label="([^"]*)"/#).map {
                (path: String($0.1), text: String($0.2))
            }
            let expected = [
                "Google to Browser, app: Google opens the authorization URL, RFC 6749 §4.1.1",
                "Browser, app to siwa: Open siwa&#39;s page, RFC 6749 §4.1.1",
                "Browser, app to Apple: Open Apple&#39;s page, OpenID Connect Core §3.1.2",
                "Browser, app to Apple: The user agrees, OpenID Connect Core §3.1.2",
                "Browser, app to siwa: Bring Apple&#39;s answer, OAuth 2.0 Form Post Response Mode §2",
                "Browser, app to siwa: The user agrees, OpenID Connect Core §3.1.2.4",
                "siwa to Browser, app: answer to The user agrees, 303 in",
                "Browser, app to Google: The answer at the redirect URI, RFC 6749 §4.1.2",
                "Google to siwa: Google exchanges the code, RFC 6749 §4.1.3",
                "siwa to Google: answer to Google exchanges the code, 200 in",
            ]
            var position = 0
            for label in labels where position < expected.count {
                if label.text.contains(expected[position]) { position += 1 }
            }
            #expect(position == expected.count, "after \(expected.prefix(position)): \(labels)")
            #expect(page.contains("<svg class=\"sequence\""))
            for path in Set(labels.map(\.path)) {
                let exchange = try await world.get(path)
                #expect(exchange.contains("<h2>Request</h2>") && exchange.contains("<h2>Answer</h2>"))
                // Tokens are decoded, and not shown whole.
                #expect(exchange.firstMatch(of: #/eyJ[A-Za-z0-9_\-]{20}/#) == nil)
            }
            let exchange = try #require(labels.first { $0.text.contains("Google exchanges the code") })
            let text = try await world.get(exchange.path)
            #expect(text.contains("https://www.rfc-editor.org/rfc/rfc6749#section-4.1.3"))
            #expect(text.contains("code_verifier") && text.contains("refresh_token"))
            // One that is no longer kept, and one that never was.
            #expect(try await world.status("/console/world/exchanges/google-9999") == 422)
            #expect(try await world.status("/console/world/exchanges/nothing-1") == 404)
        }
    }

    @Test func `faults, keys, the clock and notifications are switched`() async throws {
        try await Self.with { system, world in
            let backend = system.backend
            func isOn(_ fault: String) async throws -> Bool {
                let page = try await world.get("/console/world/faults")
                let part = page.components(separatedBy: "value=\"\(fault)\"").dropFirst().first ?? ""
                return part.prefix(200).contains("aria-checked=\"true\"")
            }
            let faults = [
                "apple_keys_unreachable", "google_answers_lost", "webhook_down", "push_certificate",
            ]
            for fault in faults {
                #expect(try await !isOn(fault))
                try await world.post("/console/world/faults", [("fault", fault), ("on", "1")])
                #expect(try await isOn(fault))
                try await world.post("/console/world/faults", [("fault", fault), ("on", "0")])
                #expect(try await !isOn(fault))
            }
            #expect(
                try await world.form("/console/world/faults", [("fault", "none"), ("on", "1")]).status == 422)

            // Held notifications change nothing until they are released.
            try await world.post("/console/world/notifications", [("hold", "1")])
            try await world.post("/console/world/people/ada/stop-using-app")
            #expect(try await backend.credential("ada")["state"] == "authorized")
            #expect(try await world.get("/console/world/notifications").contains("Ada Lovelace"))
            try await world.post("/console/world/notifications/release", [("order", "shuffled")])
            #expect(try await backend.credential("ada")["state"] == "revoked")

            let before = try await world.get("/console/world/keys")
            try await world.post("/console/world/keys", [("party", "apple"), ("change", "publish")])
            let after = try await world.get("/console/world/keys")
            #expect(after.matches(of: #/Retire</#).count == before.matches(of: #/Retire</#).count + 1)
            let key = try #require(
                after.firstMatch(
                    of: #/name="key" value="([^"]*)">\s*<button class="quiet" name="change" value="sign"/#)
            ).1
            try await world.post(
                "/console/world/keys", [("party", "apple"), ("key", String(key)), ("change", "sign")])
            try await world.post(
                "/console/world/keys", [("party", "apple"), ("key", String(key)), ("change", "retire")])
            try await world.post("/console/world/keys", [("party", "apple"), ("change", "replace-all")])
            try await world.post("/console/world/keys", [("party", "google"), ("change", "publish")])
            // siwa fetches Apple's new keys when it meets one.
            try await eventually {
                try await world.form("/console/world/people/ada/sign-in-on-phone").status == 303
            }
            #expect(try await backend.credential("ada")["state"] == "authorized")

            try await world.post("/console/world/clock", [("step", "day")])
            #expect(try await world.get("/console/world/keys").contains("1 d ahead"))
            // Tokens of tomorrow are refused, and the page says so.
            let refused = try await world.form("/console/world/people/ada/sign-in-on-phone")
            #expect(refused.status == 422 && refused.text.contains("siwa answered"))
        }
    }

    @Test(arguments: [("people:\n  - mail: a@b", "line 2: mail is not known"), ("[", "is not YAML")])
    func `a file of people with a mistake ends the start with its line`(text: String, words: String)
        async throws
    {
        try await TemporaryDirectory.with { directory in
            let file = "\(directory.path)/people.yaml"
            let log = URL(fileURLWithPath: "\(directory.path)/dev.log")
            try text.write(toFile: file, atomically: true, encoding: .utf8)
            let process = try ServiceProcess.start(
                ["dev", "--port", "0", "--emulator-port", "0", "--seed", file],
                ["PATH": "/usr/bin:/bin", "TMPDIR": directory.path], in: directory, error: log)
            try await eventually { !process.isRunning }
            let error = try String(contentsOf: log, encoding: .utf8)
            #expect(process.terminationStatus == 1)
            #expect(error.contains(words) && error.contains("people.yaml"))
        }
    }

    @Test func `the pages fit phones and desktops, and keep to the policy`() async throws {
        try await DevelopmentProcess.with(["--seed", Self.seed]) { system in
            let world = system.console
            try await world.post("/console/world/people/ada/link-with-google")
            try await world.post("/console/world/notifications", [("hold", "1")])
            try await world.post("/console/world/people/ada/change-forwarding")
            try await Browser.with { browser in
                for page in [
                    "", "/people/ada", "/exchanges", "/exchanges/google-1", "/keys", "/faults",
                    "/notifications",
                ] {
                    try await browser.open("\(system.service)/console/world\(page)")
                    for (width, isDark) in [(320, false), (375, true), (1280, false)] as [(Int64, Bool)] {
                        try await browser.show(width: width, isDark: isDark)
                        // What is wider, such as a table or a diagram, scrolls by itself.
                        let excess = try await browser.evaluate(
                            "return document.documentElement.scrollWidth - innerWidth")
                        #expect(excess.integer ?? 1 <= 0, "\(page) at \(width)")
                        if width != 320 {
                            let violations = try await browser.axeViolations()
                            #expect(violations == [], "\(page) at \(width), dark: \(isDark)")
                        }
                    }
                }
                #expect(try await browser.refusals() == [])
            }
        }
    }

    static var seed: String { ProjectFolder.root.appending(path: "Fixtures/people/example.yaml").path }

    private static func with(
        _ body: @Sendable (DevelopmentProcess, ConsoleVisitor) async throws -> Void
    ) async throws {
        try await DevelopmentProcess.with(["--seed", seed, "--check-interval", "3600"]) {
            try await body($0, $0.console)
        }
    }
}
