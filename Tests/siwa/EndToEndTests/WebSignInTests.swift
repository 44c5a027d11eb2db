import AppleEmulator
import Foundation
import StrictJSON
import TestSupport
import Testing

/// The web flow with a real browser, the fake Apple's pages, and a backend that gets only a code.
@Suite(.serialized) struct WebSignInTests {
    @Test func `a user signs in with a browser, and the backend gets the account for a one-time code`()
        async throws
    {
        try await Self.with { site, browser in
            try await browser.open(
                "\(site.address)/v1/web/sign-in?client_id=\(Relation.webClientID)&state=cart%2042")
            try await browser.click("button[name=choose]")
            try await browser.type("Grace", into: "#first")
            try await browser.click("input[value=hide]")
            try await browser.click("button[name=allow]")
            let landed = try await site.landing(of: browser)
            #expect(landed["state"] == "cart 42")
            let code = try #require(landed["code"])

            let result = try await site.backend.post("/v1/web/results", [("code", .string(code))])
            #expect(result.status == 201)
            #expect(result["account"]?["first_name"]?.string == "Grace")
            #expect(result["account"]?["is_private_email"]?.bool == true)
            #expect(result["credential"]?["state"]?.string == "authorized")
            let subject = try #require(result["account"]?["sub"]?.string)
            try await eventually {
                let account = try await site.backend.account(subject)
                return account["credentials"]?.array?.first?["refresh_token"]?.string == "held"
            }
            // The code was one for the Services ID, and for this redirect URI.
            #expect(site.relation.apple.counters.exchanges == 1)

            // A code is good once.
            let again = try await site.backend.post("/v1/web/results", [("code", .string(code))])
            #expect(again.code == "web_code_invalid")
        }
    }

    @Test func `a user who cancels is redirected with Apple's error code`() async throws {
        try await Self.with { site, browser in
            try await browser.open(
                "\(site.address)/v1/web/sign-in?client_id=\(Relation.webClientID)&state=s1")
            try await browser.click("button[name=cancel]")
            let landed = try await site.landing(of: browser)
            #expect(landed["error"] == "user_cancelled_authorize")
            #expect(landed["state"] == "s1")
            #expect(landed["code"] == nil)
            #expect(try await site.backend.get("/v1/events")["events"]?.array?.isEmpty == true)
        }
    }

    @Test func `a flow that another browser began returns no code`() async throws {
        try await Self.with { site, browser in
            try await browser.open(
                "\(site.address)/v1/web/sign-in?client_id=\(Relation.webClientID)&state=mine")
            // The URL that the attacker sends to the victim.
            let authorize = try await browser.url()
            try await Browser.with(in: site.relation.directory) { victim in
                try await victim.open(authorize)
                try await victim.click("button[name=choose]")
                try await victim.click("button[name=allow]")
                try await eventually { try await victim.url().contains("/v1/web/finish") }
                #expect(try await !victim.url().contains("code="))
                #expect(try await !victim.text().isEmpty)
            }
        }
    }

    @Test func `a returning user has the same account`() async throws {
        try await Self.with { site, browser in
            var accounts: [String?] = []
            for _ in 0..<2 {
                try await browser.open("\(site.address)/v1/web/sign-in?client_id=\(Relation.webClientID)")
                try await browser.click("button[name=choose]")
                try await browser.click("button[name=allow]")
                let code = try #require(try await site.landing(of: browser)["code"])
                let result = try await site.backend.post("/v1/web/results", [("code", .string(code))])
                accounts.append(result["account"]?["id"]?.string)
            }
            #expect(accounts[0] != nil)
            #expect(accounts[0] == accounts[1])
        }
    }

    struct Site: Sendable {
        let relation: Relation
        let backend: Backend
        let address: String

        /// The query parameters of the final redirect of the service.
        func landing(of browser: Browser) async throws -> [String: String] {
            try await eventually { try await browser.url().hasPrefix("\(address)/health?") }
            let items = URLComponents(string: try await browser.url())?.queryItems ?? []
            return Dictionary(items.map { ($0.name, $0.value ?? "") }) { $1 }
        }
    }

    /// Runs the service with one of its own pages as the redirect URL, because only the URL is checked.
    private static func with(_ body: @Sendable (Site, Browser) async throws -> Void) async throws {
        let port = try FreePort.find()
        let address = "http://127.0.0.1:\(port)"
        try await Relation.with(redirectURIs: ["\(address)/v1/web/callback"]) { relation in
            let (service, backend) = try await relation.serve([
                "SIWA_PORT": "\(port)", "SIWA_PUBLIC_URL": address,
                "SIWA_WEB_REDIRECT_URL": "\(address)/health",
            ])
            try await Browser.with(in: relation.directory) { browser in
                try await body(Site(relation: relation, backend: backend, address: address), browser)
            }
            #expect(await service.stop() == 0)
        }
    }
}
