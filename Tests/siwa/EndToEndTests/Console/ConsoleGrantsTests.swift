import Cryptography
import Encodings
import Foundation
import NIOHTTP1
import StrictJSON
import TestSupport
import Testing

@testable import Composition
@testable import siwa_dev

/// The pages about a person who has signed in with Apple, has linked with Google and uses a native app,
/// from the first token to the last.
@Suite(.serialized) struct ConsoleGrantsTests {
    @Test func `the console follows grants from the consent to the end, and the tokens with them`()
        async throws
    {
        try await DevelopmentProcess.browsed(["--seed", FakeWorldTests.seed]) { system, browser in
            try await Story(system: system, app: try NativeApp(of: system), browser: browser).play()
        }
    }

    private struct Story: Sendable {
        let system: DevelopmentProcess
        let app: NativeApp
        let browser: Browser
        var console: ConsoleVisitor { system.console }
        var google: Backend { system.googleControl }

        func play() async throws {
            let link = try await self.link()
            let first = try await app.signIn(browser)
            let person = try await found("linked", "yes")
            let tokens = try await app.refresh(first)
            #expect(try await google.post("/control/refresh")["status"] == .integer(200))
            let grants = try await checkGrants(of: person)
            try await checkSearches(for: person, grants)
            try await checkClients(person)
            try await checkInspector(tokens, link)

            // Google unlinks, which revokes its refresh token.
            #expect(try await google.post("/control/unlink")["status"] == .integer(200))
            try await expect(token: link.refresh, isGood: false, "no such token family")
            try await expect(token: link.access, isGood: false, "no such token family")
            try await expect(token: tokens.refresh, isGood: true, "siwa-cli")
            let unlinked = try await console.get(person)
            #expect(unlinked.contains("Grant of google ended") && unlinked.contains("client revoked"))
            #expect(!Self.table("OAuth grants", of: unlinked).contains("google"))

            try await console.post("\(person)/sign-out")
            #expect(try await app.refusal(of: tokens.refresh) == "invalid_grant")
            for token in [tokens.refresh, tokens.access, tokens.id] {
                try await expect(token: token, isGood: false, "has ended")
            }
            let signedOut = try await console.get(person)
            for words in ["Signed out everywhere", "Grant of siwa-cli ended", "signed out", "No grant now"] {
                #expect(signedOut.contains(words), "\(words)")
            }
            let client = try await console.get("/console/clients/siwa-cli")
            #expect(
                client.contains("<dt>Grants</dt><dd>0</dd>")
                    && client.contains("<dt>Token families</dt><dd>0</dd>"))
            #expect(client.contains("<code>family_ended</code>"))
            try await checkRequests()
            try await checkAudit(of: person)

            // A link with Google stays unless the operator chooses otherwise.
            let second = try await self.link()
            try await console.post("\(person)/sign-out")
            try await expect(token: second.refresh, isGood: true, "google")
            try await console.post("\(person)/sign-out", [("google", "yes")])
            try await expect(token: second.refresh, isGood: false, "has ended")
            #expect(try await google.post("/control/refresh")["status"] == .integer(400))
        }

        /// The user links in the browser, with the consent pages of the service.
        private func link() async throws -> NativeApp.Tokens {
            try await eventually {
                try await browser.open(system.google)
                try await browser.press("Link in the browser")
                try await browser.press("Continue")
                if try await comes(to: ["Ada Lovelace", "Agree and link"]) == "Ada Lovelace" {
                    try await browser.press("Ada Lovelace")
                    try await browser.press("Continue")
                }
                // Apple tells the second of a sign-in. One in the second of a sign-out may be the older one.
                return try await comes(to: ["Agree and link", "login_required"]) == "Agree and link"
            }
            try await browser.press("Agree and link")
            var links: [JSONValue] = []
            try await eventually {
                links = try await google.get("/control/links")["links"]?.array ?? []
                return links.last?["status"] == "linked"
            }
            let link = try #require(links.last)
            return NativeApp.Tokens(
                access: try #require(link["access_token"]?.string),
                refresh: try #require(link["refresh_token"]?.string), id: "")
        }

        /// The words that the page has first.
        private func comes(to choices: [String]) async throws -> String? {
            var found: String?
            try await eventually {
                for words in choices where found == nil {
                    if try await browser.shows(words) { found = words }
                }
                return found != nil
            }
            return found
        }

        /// The path of the one person that a search finds.
        private func found(_ name: String, _ value: String) async throws -> String {
            let people = try await people(name, value)
            #expect(people.count == 1, "\(name): \(people)")
            return try #require(people.first)
        }

        private func people(_ name: String, _ value: String) async throws -> [String] {
            let page = try await console.form("/console/people", [(name, value)])
            #expect(page.status == 200, "\(page.text)")
            return page.text.matches(of: #/<a href="(/console/people/acc_[^"]*)"/#).map { String($0.1) }
        }

        private static func table(_ label: String, of page: String) -> Substring {
            guard let start = page.firstRange(of: "aria-label=\"\(label)\""),
                let end = page[start.upperBound...].firstRange(of: "</table>")
            else { return "" }
            return page[start.upperBound..<end.lowerBound]
        }

        /// The IDs of the grants of Google and of the app.
        private func checkGrants(of person: String) async throws -> [String] {
            let page = try await console.get(person)
            let rows = Self.table("OAuth grants", of: page).split(separator: "<tr>").dropFirst(2)
            #expect(rows.count == 2, "\(rows)")
            // The day can have ended since.
            let days = [0.0, -600].map { Date(timeIntervalSinceNow: $0).ISO8601Format().prefix(10) }
            let expected = [
                ("google", "openid email profile devices.control"),
                ("siwa-cli", "openid email offline_access"),
            ]
            for (row, (client, scope)) in zip(rows, expected) {
                for words in [
                    "/console/clients/\(client)\"", "<td class=\"any\">\(scope)</td>", ">com.example.app<",
                ] { #expect(row.contains(words), "\(words): \(row)") }
                #expect(days.contains { row.contains("<td>\($0)") }, "\(row)")
            }
            for words in [
                "Grant to google", "Grant to siwa-cli", "Tokens issued to google",
                "Tokens issued to siwa-cli", "First sign-in",
            ] { #expect(page.contains(words), "\(words)") }
            // The people of siwa dev are invented.
            #expect(page.contains("Lovelace"))
            return rows.compactMap { $0.firstMatch(of: /grt_[0-9a-f-]+/).map { String($0.0) } }
        }

        private func checkSearches(for person: String, _ grants: [String]) async throws {
            #expect(grants.count == 2)
            for grant in grants { #expect(try await found("q", grant) == person) }
            #expect(try await people("linked", "no").count == 1)
            #expect(try await !people("linked", "no").contains(person))
        }

        private func checkClients(_ person: String) async throws {
            #expect(try await app.refusal(of: "siwa_rt_none") == "invalid_grant")
            let list = try await console.get("/console/clients")
            for (client, numbers) in [
                ("google", "1</td><td>1</td><td>0"), ("siwa-cli", "1</td><td>1</td><td>1"),
            ] {
                let row = try #require(
                    list.components(separatedBy: "<tr>").first { $0.contains("<code>\(client)</code>") })
                #expect(row.contains("<td>\(numbers)</td>"), "\(row)")
            }
            let page = try await console.get("/console/clients/siwa-cli")
            for words in [
                "<dt>Grants</dt><dd>1</dd>", "<dt>Token families</dt><dd>1</dd>",
                "<code>token_unknown</code>",
            ] { #expect(page.contains(words), "\(words)") }
        }

        /// The newest refused request is the refresh after the sign-out.
        private func checkRequests() async throws {
            let list = try await console.get("/console/requests")
            let rows = list.components(separatedBy: "<tr>")
            let row = try #require(rows.first { $0.contains("family_ended") })
            #expect(row.contains("siwa-cli"), "\(row)")
            let path = try #require(row.firstMatch(of: #/href="(/console/requests/\d+)"/#)?.1)
            let page = try await console.get(String(path))
            for words in [
                "invalid_grant", "<code>family_ended</code>", "The token family has ended", "refresh_token",
            ] { #expect(page.contains(words), "\(words)") }
        }

        private func checkAudit(of person: String) async throws {
            let account = try #require(person.split(separator: "/").last)
            #expect(try await console.get(person).contains("href=\"/console/audit?account=\(account)\""))
            let page = try await console.get("/console/audit?account=\(account)")
            let rows = page.components(separatedBy: "<tr>").dropFirst()
            for (action, words) in [
                ("grant_created", "google"), ("tokens_issued", "siwa-cli"),
                ("account_signed_out", "developer"), ("grant_ended", "signed_out"),
            ] { #expect(rows.contains { $0.contains(action) && $0.contains(words) }, "\(action)") }
        }

        private func checkInspector(_ tokens: NativeApp.Tokens, _ link: NativeApp.Tokens) async throws {
            for token in [tokens.access, tokens.refresh, tokens.id] {
                try await expect(token: token, isGood: true, "siwa-cli")
            }
            for token in [link.access, link.refresh] {
                try await expect(token: token, isGood: true, "google")
            }
        }

        private func expect(token: String, isGood: Bool, _ words: String) async throws {
            let page = try await console.form("/console/tokens", [("token", token)]).text
            let verdict = isGood ? "<span class=\"good\">Yes</span>" : "<span class=\"bad\">No</span>"
            #expect(page.contains(verdict) && page.contains(words), "\(words)")
        }
    }
}

/// The native app `siwa-cli` of `siwa dev`, whose user agrees in a browser: a public client with a proof key.
struct NativeApp: Sendable {
    struct Tokens: Sendable {
        let access: String
        let refresh: String
        let id: String
    }

    let system: DevelopmentProcess
    /// Nothing listens there: the test reads the code from the browser's request.
    private let redirectURI: String
    private let verifier = Base64URL.encode(SecureRandom.bytes(count: 32))

    init(of system: DevelopmentProcess) throws {
        self.system = system
        redirectURI = "http://127.0.0.1:\(try FreePort.find())"
    }

    /// Gets tokens for the user who has a session in this browser.
    func signIn(_ browser: Browser) async throws -> Tokens {
        let challenge = Base64URL.encode(SHA256Digest.hash(verifier).bytes)
        let query = FormEncoding.encode([
            (name: "response_type", value: "code"), ("client_id", DevelopmentClients.native),
            ("redirect_uri", redirectURI), ("scope", "openid email offline_access"), ("state", "s-1"),
            ("code_challenge", challenge), ("code_challenge_method", "S256"),
        ])
        _ = try await browser.departures()
        try await browser.open("\(system.service)/oauth/authorize?\(query)")
        try await browser.press("Allow")
        var code: String?
        try await eventually {
            let back = try await browser.departures().last { $0.hasPrefix(redirectURI) }
            code = TestClient.parameter("code", of: back) ?? code
            return code != nil
        }
        return try await tokens([
            ("grant_type", "authorization_code"), ("code", try #require(code)),
            ("redirect_uri", redirectURI), ("code_verifier", verifier),
        ])
    }

    /// Refreshes, which rotates the refresh token.
    func refresh(_ tokens: Tokens) async throws -> Tokens {
        try await self.tokens(
            [("grant_type", "refresh_token"), ("refresh_token", tokens.refresh)], id: tokens.id)
    }

    /// The error of a refresh that is refused.
    func refusal(of token: String) async throws -> String? {
        try await ask([("grant_type", "refresh_token"), ("refresh_token", token)]).error
    }

    /// - Parameter id: The ID token of the sign-in, because a refresh gives none.
    private func tokens(_ fields: TestClient.Fields, id: String? = nil) async throws -> Tokens {
        let response = try await ask(fields)
        #expect(response.status == 200, "\(response.text)")
        return Tokens(
            access: try #require(response["access_token"]?.string),
            refresh: try #require(response["refresh_token"]?.string),
            id: try #require(response["id_token"]?.string ?? id))
    }

    private func ask(_ fields: TestClient.Fields) async throws -> TestClient.Response {
        try await TestClient.send(
            .POST, "\(system.service)/oauth/token", form: [("client_id", DevelopmentClients.native)] + fields)
    }
}
