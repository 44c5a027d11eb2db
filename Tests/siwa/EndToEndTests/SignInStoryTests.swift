import AppleEmulator
import Foundation
import StrictJSON
import TestSupport
import Testing

@testable import siwa_dev

/// The use of an app by one user, from the first sign-in to the end. Only Apple is simulated.
@Suite struct SignInStoryTests {
    @Test func `a user signs in, revokes the consent, and signs in again`() async throws {
        try await WholeSystem.with { system in
            let user = try system.apple.makeUser(UserRecipe())
            let token = try await system.apple.mint(.of(user))
            let first = try await system.backend.signIn(token.identityToken)
            #expect(first.status == 201)
            #expect(first["account"]?["sub"]?.string == user.subject)
            #expect(try await system.backend.credential(user.subject)["state"] == "authorized")

            try await system.change(.revokeConsent, of: user)
            let revoked = try await system.backend.credential(user.subject)
            #expect(revoked["state"] == "revoked")
            #expect(revoked["reason"] == "consent_revoked")
            // The old token is signed and not expired, but older than the revocation.
            #expect(try await system.backend.signIn(token.identityToken).code == "credential_revoked")

            // Token times are in seconds: the new token must be from a later second.
            var recipe = IdentityTokenRecipe.of(user)
            recipe.times.offset = 1
            let again = try await system.backend.signIn(try await system.apple.mint(recipe).identityToken)
            #expect(again.status == 200)
            #expect(again["account"]?["id"] == first["account"]?["id"])
            #expect(again["credential"]?["state"] == "authorized")

            let types = try await system.backend.get("/v1/events")["events"]?.array?.map {
                $0["type"]?.string
            }
            #expect(
                types == [
                    "account_created", "credential_authorized", "credential_revoked", "credential_authorized",
                ])
        }
    }

    @Test func `name, relay address and its forwarding state are stored`() async throws {
        try await WholeSystem.with { system in
            var newUser = UserRecipe()
            newUser.firstName = "Jane"
            newUser.hidesEmail = true
            let user = try system.apple.makeUser(newUser)
            let minted = try await system.apple.mint(.of(user))
            let profile = JSONValue.object(
                JSONObject([("name", .object(JSONObject([("firstName", "Jane")])))]))
            let first = try await system.backend.signIn(minted.identityToken, [("user", profile)])
            #expect(first["account"]?["first_name"] == "Jane")
            #expect(first["account"]?["is_private_email"] == true)
            #expect(first["account"]?["email_forwarding"] == "unknown")
            try await system.change(.disableForwarding, of: user)
            #expect(try await system.backend.account(user.subject)["email_forwarding"] == "disabled")
            try await system.change(.enableForwarding, of: user)
            #expect(try await system.backend.account(user.subject)["email_forwarding"] == "enabled")
        }
    }

    @Test func `a deleted Apple Account ends every credential`() async throws {
        try await WholeSystem.with { system in
            let user = try system.apple.makeUser(UserRecipe())
            _ = try await system.backend.signIn(try await system.apple.mint(.of(user)).identityToken)
            try await system.change(.deleteAccount, of: user)
            let credential = try await system.backend.credential(user.subject)
            #expect(credential["state"] == "revoked")
            #expect(credential["reason"] == "apple_account_deleted")
        }
    }

    @Test func `a notification that arrives before its sign-in is not lost`() async throws {
        try await WholeSystem.with { system in
            let user = try system.apple.makeUser(UserRecipe())
            let token = try await system.apple.mint(.of(user))
            try await system.change(.revokeConsent, of: user)
            #expect(try await system.backend.credential(user.subject)["state"] == "revoked")
            #expect(try await system.backend.signIn(token.identityToken).code == "credential_revoked")
        }
    }

    @Test func `a nonce of the service can be used for one sign-in`() async throws {
        try await WholeSystem.with { system in
            let minted = try await system.backend.post("/v1/nonces")
            let nonce = try #require(minted["nonce"]?.string)
            var recipe = IdentityTokenRecipe()
            recipe.nonce = minted["nonce_sha256"]?.string
            let token = try await system.apple.mint(recipe).identityToken
            #expect(try await system.backend.signIn(token, [("nonce", .string(nonce))]).status == 201)
            #expect(try await system.backend.signIn(token, [("nonce", .string(nonce))]).code == "nonce_used")
        }
    }
}

extension WholeSystem {
    /// A change of the user's account at Apple, with its notifications.
    func change(_ change: AccountChange, of user: EmulatedUser) async throws {
        for payload in try await apple.notifications(of: change, by: user) {
            #expect(try await backend.notify(payload).status == 200)
        }
    }
}

/// Runs the commands of `siwa tour`, which `siwa dev` names.
@Suite struct WalkthroughTests {
    @Test func `the printed walk-through works line by line`() async throws {
        try await TemporaryDirectory.with { directory in
            // The whole text is written at once.
            try await DevelopmentProcess.printing(
                ["dev", "--port", "\(try FreePort.find())", "--emulator-port", "0"], until: "Ctrl-C",
                in: directory
            ) { banner in
                #expect(banner.split(separator: "\n", omittingEmptySubsequences: false).count <= 24)
                let tour = try #require(banner.firstMatch(of: /(\S+) (tour(?: --[a-z-]+ \S+)*)/))
                let options = tour.2.split(separator: " ").map(String.init)
                let program = URL(fileURLWithPath: String(tour.1))
                let lines = try await ProgramRun.of(program, options + ["--print"]).output.split(
                    separator: "\n")
                let script = lines.flatMap { Self.further(before: $0) + [String($0)] }
                let responses = try await ProgramRun.named("sh", ["-c", script.joined(separator: "\n")])
                    .output
                    .split(separator: "\n")
                let json = responses.compactMap {
                    try? JSONValue(parsing: Array($0.utf8), limits: JSONLimits(depth: 8, members: 64))
                }
                #expect(json.count == 14)
                let signIns = json.filter { $0["account"] != nil }
                #expect(signIns.map { $0["is_new_account"]?.bool } == [true, false])
                #expect(signIns[0]["account"]?["first_name"] == "Ada")
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
                #expect(report?["state"] == "completed")
                #expect(report?["tokens"]?.array?.first?["outcome"] == "revoked_and_proven")
                let events = json.last { $0["events"] != nil }?["events"]?.array?.map { $0["type"]?.string }
                #expect(
                    events == [
                        "account_created", "credential_authorized", "email_forwarding_changed",
                        "credential_revoked", "credential_authorized", "credential_revoked", "account_erased",
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
                let walk = try await ProgramRun.named("sh", ["-c", "yes '' | \(tour.1) \(tour.2)"])
                #expect(walk.output.contains("The tour is complete."), "\(walk.output)")
                #expect(walk.output.components(separatedBy: "Enter runs it").count == 13)
                for step in 1...12 { #expect(walk.output.contains("\nStep \(step) of 12\n")) }
                // A pipe gets neither colors nor folded lines.
                #expect(!walk.output.contains("\u{1B}") && walk.output.contains(" {\"account\":{"))
                let port = try #require(tour.2.firstMatch(of: /--port (\d+)/)?.1)
                let page = try await ProgramRun.named(
                    "sh",
                    ["-c", "curl -sS -i http://127.0.0.1:\(port)/console/start"]
                ).output
                #expect(page.hasPrefix("HTTP/1.1 200") && page.contains("text/html"))
                #expect(
                    page.contains("The fake Apple")
                        && page.contains("/v1/web/sign-in?client_id=com.example.web"))
                let root = try await ProgramRun.named(
                    "sh", ["-c", "curl -sS -i -L http://127.0.0.1:\(port)/"]
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

    @Test func `the README has the same commands, in lines that a page can show`() throws {
        let readme = try ProjectFolder.text("README.md")
        let block = try #require(readme.firstMatch(of: /(?s)```sh\n(# Names that.*?)```/)).1
        let lines = block.split(separator: "\n").map(String.init)
        #expect(lines.allSatisfy { $0.count <= 160 })
        let commands = Self.walkthrough.lines.split(separator: "\n").map(String.init)
        #expect(Self.unfolded(lines) == commands)
    }

    /// Joins the lines of a comment, and those of a command: after a backslash without a semicolon.
    private static func unfolded(_ lines: [String]) -> [String] {
        var unfolded: [String] = []
        for line in lines {
            guard var last = unfolded.last, last.hasPrefix("#") == line.hasPrefix("#") else {
                unfolded.append(line)
                continue
            }
            if last.hasPrefix("#") {
                last += line.dropFirst()
            } else if last.hasSuffix(" \\") {
                last.removeLast(2)
                last += line
            } else {
                last += "; " + line
            }
            unfolded[unfolded.count - 1] = last
        }
        return unfolded
    }

    private static let walkthrough = Walkthrough(
        servicePort: 8080, applePort: 8081, receiverPort: 8083, secret: DevelopmentSettings.secret,
        clientID: "com.example.app")
}

/// The web flow with a real browser, the fake Apple's pages, and a backend that gets only a code.
@Suite(.serialized) struct WebSignInTests {
    @Test func `a user signs in with a browser, and the backend gets the account for a one-time code`()
        async throws
    {
        try await Self.with { site, browser in
            try await browser.open(
                "\(site.address)/v1/web/sign-in?client_id=\(WholeSystem.webClientID)&state=cart%2042")
            try await browser.click("button[name=choose]")
            try await browser.type("Grace", into: "#first")
            try await browser.click("input[value=hide]")
            try await browser.click("button[name=allow]")
            let landed = try await site.landing(of: browser)
            #expect(landed["state"] == "cart 42")
            let code = try #require(landed["code"])

            let result = try await site.backend.post("/v1/web/results", [("code", .string(code))])
            #expect(result.status == 201)
            #expect(result["account"]?["first_name"] == "Grace")
            #expect(result["account"]?["is_private_email"] == true)
            #expect(result["credential"]?["state"] == "authorized")
            let subject = try #require(result["account"]?["sub"]?.string)
            try await eventually {
                let account = try await site.backend.account(subject)
                return account["credentials"]?.array?.first?["refresh_token"] == "held"
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
                "\(site.address)/v1/web/sign-in?client_id=\(WholeSystem.webClientID)&state=s1")
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
                "\(site.address)/v1/web/sign-in?client_id=\(WholeSystem.webClientID)&state=mine")
            // The URL that the attacker sends to the victim.
            let authorize = try await browser.url()
            try await Browser.with { victim in
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
                try await browser.open("\(site.address)/v1/web/sign-in?client_id=\(WholeSystem.webClientID)")
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
            try await Browser.with { browser in
                try await body(Site(relation: relation, backend: backend, address: address), browser)
            }
            #expect(await service.stop() == 0)
        }
    }
}
