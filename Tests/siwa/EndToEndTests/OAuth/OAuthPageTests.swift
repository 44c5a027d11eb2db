import Foundation
import TestSupport
import Testing

/// The programs of `docs/oauth.md`, against `siwa dev`.
@Suite struct OAuthPageTests {
    private static func page() throws -> String { try ProjectFolder.text("docs/oauth.md") }

    /// Pastes the web application of the page into a shell, and is its user in Chromium. Returns what it prints.
    private static func runSite(
        at system: DevelopmentProcess, in directory: TemporaryDirectory
    ) async throws -> String {
        let block = try #require(try page().components(separatedBy: "## Try it\n").dropFirst().first)
            .components(separatedBy: "```sh\n")[1].components(separatedBy: "```")[0]
        let printed = directory.path(of: "site.txt")
        let site = Task {
            try await ProgramRun.of(
                URL(fileURLWithPath: "/bin/sh"), ["-c", "( \(block) ) > '\(printed)' 2>&1"],
                environment: ["PATH": "/usr/bin:/bin", "SIWA": system.service])
        }
        defer { site.cancel() }
        // The shell makes the file.
        try await eventually {
            (try? String(contentsOfFile: printed, encoding: .utf8))?.contains("\n") == true
        }
        let address = try #require(
            try String(contentsOfFile: printed, encoding: .utf8).firstMatch(of: /Open: (\S+)\n/)
        ).1
        try await Browser.with { browser in
            try await browser.open(String(address))
            try await browser.press(each: ["Jane Appleseed", "Continue"])
            try await browser.click("button[value=agree]")
            try await eventually { try await browser.text().contains("Back at the site.") }
        }
        #expect(try await site.value.status == 0)
        return try String(contentsOfFile: printed, encoding: .utf8)
    }

    @Test(.timeLimit(.hung))
    func `the web application of the page gets a code, and tokens that are good`() async throws {
        try await DevelopmentProcess.with(["--log-level", "error"]) { system in
            let printed = try await Self.runSite(at: system, in: system.directory)
            #expect(
                printed.contains(
                    "'access_token', 'expires_in', 'id_token', 'refresh_token', 'scope', 'token_type'"),
                "\(printed)")
            #expect(printed.contains("Is the token good? {'active': True, "), "\(printed)")
            #expect(printed.hasSuffix("And after the refresh? True\n"), "\(printed)")
        }
    }

    /// An API reaches siwa under another address than the issuer's, and must therefore know its audience.
    @Test(.timeLimit(.hung))
    func
        `the resource server of the page accepts a token at an address of its own, and only with its audience`()
        async throws
    {
        let code = try #require(try Self.page().components(separatedBy: "def good_token").first)
        let start = try #require(code.ranges(of: "```python\n").last).upperBound
        let rest = try #require(try Self.page().components(separatedBy: "def good_token").dropFirst().first)
        let program = code[start...] + "def good_token" + rest.components(separatedBy: "```")[0]
        let driver = """

            import sys
            def post(path, form):
                body = urllib.parse.urlencode(form).encode()
                return json.load(urllib.request.urlopen(urllib.request.Request(os.environ["ISSUER"] + path, body)))
            nonce = post("/oauth/nonce", {"client_id": "siwa-phone"})
            wish = json.dumps({"nonce": nonce["nonce_sha256"]}).encode()
            token = urllib.request.urlopen(sys.argv[1] + "/emulator/identity-tokens?format=text", wish).read().decode()
            tokens = post("/oauth/token", {
                "client_id": "siwa-phone", "nonce": nonce["nonce"], "subject_token": token,
                "grant_type": "urn:ietf:params:oauth:grant-type:token-exchange",
                "subject_token_type": "urn:ietf:params:oauth:token-type:id_token"})
            answers = [good_token("Bearer " + tokens["access_token"]), good_token("Bearer " + tokens["refresh_token"]),
                good_token("Bearer x")]
            print([answer is not None for answer in answers], may(answers[0], "openid"), may(answers[0], "admin"))
            AUDIENCE = "https://other.example"
            print(good_token("Bearer " + tokens["access_token"]))
            """
        try await DevelopmentProcess.with(["--log-level", "error"]) { system in
            let internalAddress = "http://localhost:\(system.port)"
            func run(_ variables: [String: String]) async throws -> ProgramRun {
                let both = ["ISSUER": system.service, "SIWA": internalAddress].merging(variables) { $1 }
                return try await OperatorTool.run(
                    "python3", ["-c", program + driver, system.apple], both, in: system.directory)
            }
            let right = try await run(["AUDIENCE": system.service])
            #expect(right.output == "[True, False, False] True False\nNone\n")
            // It does not start with a guess.
            let missing = try await run([:])
            #expect(
                missing.status != 0 && missing.output.contains("KeyError: 'AUDIENCE'"), "\(missing.output)")
        }
    }
}
