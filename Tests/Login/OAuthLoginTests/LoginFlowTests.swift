import Foundation
import Hummingbird
import JOSE
import NIOHTTP1
import StrictJSON
import TestSupport
import Testing

@testable import OAuthLogin

@Suite(.trial, .timeLimit(.hung)) struct LoginFlowTests {
    let trial = LoginTrial.current

    @Test func `signs in with S256, state, nonce and one loopback address`() async throws {
        let outcome = try await trial.signIn()
        #expect(outcome.error == nil)
        let request = try #require(trial.server.received("/authorize").first).fields
        #expect(request["response_type"] == "code")
        #expect(request["client_id"] == "desktop")
        #expect(request["scope"] == "openid email")
        #expect(request["code_challenge_method"] == "S256")
        #expect(request["state"]?.count == 43)
        #expect(request["nonce"]?.count == 43)
        let redeemed = try #require(trial.server.received("/token").first).fields
        #expect(redeemed["redirect_uri"] == request["redirect_uri"])
        #expect(redeemed["client_id"] == "desktop")
        #expect(redeemed["client_secret"] == nil)
        let tokens = try #require(outcome.tokens)
        #expect(tokens.subject == ScriptedAuthorizationServer.subject)
        #expect(tokens.expiresAt == LoginTrial.now + 3600)
        #expect(tokens.refreshToken == "refresh-1")
    }

    @Test func `says what happens, and no token`() async throws {
        let said = try await trial.signIn().said
        for words in [
            "Metadata from", "Listening on http://127.0.0.1:", "Opened the browser",
            "the right state and the right issuer", "Exchanged the code", "ES256 signature",
            ScriptedAuthorizationServer.subject, "openid email", "2027-01-15T09:00:00.000Z",
        ] { #expect(said.contains(words), "\(words)") }
        for secret in ["access-1", "refresh-1", "c0de"] { #expect(!said.contains(secret)) }
    }

    @Test func `keeps the tokens in a file that only its owner can read`() async throws {
        _ = try await trial.signIn()
        let file = try trial.file
        for (path, mode) in [(file.path, 0o600), (file.directory, 0o700)] {
            let attributes = try FileManager.default.attributesOfItem(atPath: path)
            #expect((attributes[.posixPermissions] as? Int) == mode)
        }
    }

    @Test func `the closing page has no script and strict headers`() async throws {
        _ = try await trial.signIn { browser, url in
            let page = try await browser.signIn(url)
            #expect(page.status == 200)
            #expect(page.text.contains("<h1>You are signed in</h1>"))
            #expect(!page.text.contains("<script"))
            let policy = page.headers.first(name: "Content-Security-Policy") ?? ""
            #expect(policy.contains("default-src 'none'") && policy.contains("frame-ancestors 'none'"))
            #expect(page.headers.first(name: "Referrer-Policy") == "no-referrer")
            #expect(page.headers.first(name: "Cache-Control") == "no-store")
        }
    }

    @Test func `a second call refreshes, and a third call sends the rotated token`() async throws {
        for _ in 0..<3 {
            let error = try await trial.signIn().error
            #expect(error == nil)
        }
        let requests = trial.server.received("/token").map(\.fields)
        #expect(
            requests.map { $0["grant_type"] } == ["authorization_code", "refresh_token", "refresh_token"])
        #expect(requests.map { $0["refresh_token"] } == [nil, "refresh-1", "refresh-2"])
        let refreshToken = try trial.file.read()?.refreshToken
        #expect(refreshToken == "refresh-3")
        #expect(trial.server.received("/authorize").count == 1)
    }

    @Test func `a refused refresh token leads to a new sign-in`() async throws {
        _ = try await trial.signIn()
        let tokens = trial.server.tokens(9)
        trial.server.replace("/token") { request in
            request.fields["grant_type"] == "refresh_token"
                ? ScriptedAuthorizationServer.json(
                    JSONObject([("error", "invalid_grant")]), status: .badRequest)
                : ScriptedAuthorizationServer.json(tokens)
        }
        var again = trial
        again.scope = []
        _ = try await again.signIn()
        let outcome = try await again.signIn()
        #expect(outcome.error == nil)
        #expect(outcome.said.contains("not accepted any more"))
        #expect(trial.server.received("/authorize").count == 3)
    }

    @Test func `an unreachable token endpoint leaves the kept tokens`() async throws {
        _ = try await trial.signIn()
        trial.server.replace("/token") { _ in Response(status: .serviceUnavailable) }
        let outcome = try await trial.signIn()
        #expect(outcome.error?.code == .serverUnreachable)
        #expect(outcome.tokens?.refreshToken == "refresh-1")
    }

    @Test func `logout revokes the refresh token and removes the file`() async throws {
        _ = try await trial.signIn()
        #expect(try await trial.signOut().error == nil)
        let request = try #require(trial.server.received("/revoke").first).fields
        #expect(request["token"] == "refresh-1")
        #expect(request["token_type_hint"] == "refresh_token")
        #expect(request["client_id"] == "desktop")
        let directory = try trial.file.directory
        #expect(!FileManager.default.fileExists(atPath: directory))
        #expect(try await trial.signOut().said.contains("There are no tokens"))
    }

    @Test(arguments: [400, 401, 500]) func `a failed revocation keeps the file`(status: Int) async throws {
        _ = try await trial.signIn()
        trial.server.replace("/revoke") { _ in
            ScriptedAuthorizationServer.json(
                JSONObject([("error", "invalid_client")]), status: .init(code: status))
        }
        let outcome = try await trial.signOut()
        #expect(outcome.error != nil)
        #expect(outcome.tokens != nil)
    }

    @Test func `uses the OpenID Connect metadata where there is no other, and sends a secret in the body`()
        async throws
    {
        let metadata = trial.server.metadata(["authorization_response_iss_parameter_supported": nil])
        trial.server.replace("/.well-known/oauth-authorization-server") { _ in Response(status: .notFound) }
        trial.server.replace("/.well-known/openid-configuration") { _ in
            ScriptedAuthorizationServer.json(metadata)
        }
        var trial = self.trial
        trial.secret = "no-secret"
        let error = try await trial.signIn().error
        #expect(error == nil)
        #expect(trial.server.received("/token").first?.fields["client_secret"] == "no-secret")
        #expect(trial.server.received("/token").first?.authorization == nil)
    }

    @Test func `a second call at the same time is refused`() async throws {
        let outcome = try await trial.signIn { browser, url in
            #expect(try await trial.signIn { _, _ in }.error?.code == .fileUnusable)
            try await browser.signIn(url)
        }
        #expect(outcome.error == nil)
    }
}

@Suite struct SystemBrowserTests {
    static let url = "https://signin.example.com/oauth/authorize?a=1&state=%24(touch%20x);$(touch x)"

    @Test func `BROWSER names programs in their order, and comes before the desktop's`() {
        let browser = SystemBrowser(environment: ["BROWSER": "firefox --new-window:w3m %s", "DISPLAY": ":0"])
        #expect(browser.commands == [["firefox", "--new-window"], ["w3m", "%s"]])
    }

    @Test(arguments: [[:], ["BROWSER": ""], ["BROWSER": " : "]])
    func `without a display and without BROWSER there is none`(environment: [String: String]) {
        #if os(macOS)
            #expect(SystemBrowser(environment: environment).commands == [["open"]])
        #else
            #expect(SystemBrowser(environment: environment).commands.isEmpty)
            #expect(!SystemBrowser(environment: environment).open(Self.url))
            let desktop = environment.merging(["WAYLAND_DISPLAY": "wayland-0"]) { $1 }
            #expect(SystemBrowser(environment: desktop).commands == [["xdg-open"]])
        #endif
    }

    @Test func `the URL takes the place of the mark, or comes last`() {
        #expect(SystemBrowser.arguments(["-a", "x=%s"], for: "u") == ["-a", "x=u"])
        #expect(SystemBrowser.arguments(["-a"], for: "u") == ["-a", "u"])
    }

    @Test func `the first program that exists gets the URL as one word, and no shell reads it`() async throws
    {
        try await TemporaryDirectory.with { directory in
            let program = directory.path(of: "my-browser")
            try "#!/bin/sh\nprintf '%s %s' $# \"$1\" > \"$0.part\"; mv \"$0.part\" \"$0.got\"\n".write(
                toFile: program, atomically: true, encoding: .utf8)
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: program)
            let browser = SystemBrowser(environment: [
                "BROWSER": "no-such-program:\(program)", "PATH": "/usr/bin:/bin",
            ])
            #expect(browser.open(Self.url))
            try await eventually { FileManager.default.fileExists(atPath: "\(program).got") }
            #expect(try String(contentsOfFile: "\(program).got", encoding: .utf8) == "1 \(Self.url)")
        }
    }
}
