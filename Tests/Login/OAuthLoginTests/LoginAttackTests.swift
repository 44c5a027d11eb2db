import Hummingbird
import JOSE
import NIOCore
import NIOHTTP1
import NIOPosix
import StrictJSON
import TestSupport
import Testing

@testable import OAuthLogin

/// Responses and servers of an attacker, or of another program on this machine.
@Suite(.trial, .timeLimit(.hung)) struct LoginAttackTests {
    let trial = LoginTrial.current

    @Test func `wrong states and port scanners do not end the sign-in, and the right answer still counts`()
        async throws
    {
        let outcome = try await trial.signIn { browser, url async throws in
            let target = TestBrowser.parameter("redirect_uri", of: url)
            #expect(try await browser.get("\(target)/").status == 404)
            #expect(try await browser.get("\(target)/favicon.ico").status == 404)
            #expect(try await browser.get("\(target)/admin?code=x&state=y").status == 404)
            #expect(try await browser.get("\(target)/?code=stolen").status == 404)
            #expect(try await browser.get("\(target)/", method: .POST).status == 405)
            #expect(try await browser.get("\(target)/?state=a&state=b&code=c").status == 404)
            #expect(try await browser.get("\(target)/", host: "evil.example").status == 421)
            #expect(try await browser.response(url, [("code", "c0de"), ("state", "guess")]).status == 400)
            #expect(try await browser.signIn(url).status == 200)
        }
        #expect(outcome.error == nil)
        #expect(outcome.said.contains("Refused 1 requests with another state"))
    }

    @Test func `a header of more than 32 KiB is refused before its request is looked at`() async throws {
        let outcome = try await trial.signIn { browser, url async throws in
            let target = TestBrowser.parameter("redirect_uri", of: url)
            let accepted = String(repeating: "a", count: 31 * 1024)
            #expect(try await browser.get("\(target)/", host: accepted).status == 421)
            // The connection may end without a response.
            let refused = String(repeating: "a", count: 33 * 1024)
            let status = try? await browser.get("\(target)/", host: refused).status
            #expect(status == nil || status == 400 || status == 431)
            #expect(try await browser.signIn(url).status == 200)
        }
        #expect(outcome.error == nil)
    }

    @Test func `a second answer is not taken`() async throws {
        let server = trial.server
        let (held, release) = AsyncStream<Void>.makeStream()
        let tokens = server.tokens(1)
        server.replace("/token") { _ in
            for await _ in held { break }
            return ScriptedAuthorizationServer.json(tokens)
        }
        var trial = self.trial
        trial.scope = ["email"]
        let outcome = try await trial.signIn { browser, url in
            let state = TestBrowser.parameter("state", of: url)
            let fields = [(name: "code", value: "first"), ("state", state), ("iss", server.issuer)]
            // The browser waits until the tokens are verified.
            async let first = browser.response(url, fields)
            try await eventually { !server.received("/token").isEmpty }
            let second = try await browser.response(
                url, [("code", "second"), ("state", state), ("iss", server.issuer)])
            #expect(second.status == 410)
            release.finish()
            #expect(try await first.status == 200)
        }
        #expect(outcome.error == nil)
        #expect(server.received("/token").map { $0.fields["code"] } == ["first"])
    }

    @Test(arguments: [
        // Without iss, although the metadata promises it.
        [("code", "c0de")],
        // Mix-up: another server's response.
        [("code", "c0de"), ("iss", "https://evil.example")],
        [("error", "access_denied"), ("iss", "https://evil.example")],
        [("code", "c0de"), ("code", "other"), ("iss", "ISSUER")],
        [("code", "c0de"), ("error", "access_denied"), ("iss", "ISSUER")], [("code", ""), ("iss", "ISSUER")],
        [("iss", "ISSUER")],
    ]) func `an answer with the right state and a wrong rest ends the sign-in without a token request`(
        fields: [(String, String)]
    ) async throws {
        let outcome = try await trial.signIn { browser, url in
            let state = TestBrowser.parameter("state", of: url)
            let sent = fields.map { (name: $0.0, value: $0.1 == "ISSUER" ? trial.server.issuer : $0.1) }
            let status = try await browser.response(url, sent + [("state", state)]).status
            #expect(status == 400)
        }
        #expect(outcome.error?.code == .responseRefused)
        #expect(trial.server.received("/token").isEmpty)
        #expect(outcome.tokens == nil)
    }

    @Test func `an error of the server is shown in words, without control characters and markup`()
        async throws
    {
        let outcome = try await trial.signIn { browser, url in
            let page = try await browser.response(
                url,
                [
                    ("error", "access_denied"), ("error_description", "<b>no\u{1B}[2J</b>"),
                    ("iss", trial.server.issuer), ("state", TestBrowser.parameter("state", of: url)),
                ])
            #expect(!page.text.contains("<b>") && page.text.contains("&lt;b&gt;"))
        }
        #expect(outcome.error?.code == .serverRefused)
        #expect(outcome.error?.message.contains("cancelled") == true)
        #expect(outcome.error?.message.contains("\u{1B}") == false)
    }

    @Test func `without an answer the sign-in ends`() async throws {
        var trial = self.trial
        trial.responseLimit = .milliseconds(50)
        let error = try await trial.signIn { _, _ in }.error
        #expect(error?.code == .responseMissing)
    }

    @Test(arguments: ["/.well-known/oauth-authorization-server", "/token", "/jwks.json"])
    func `an endless body is cut off`(path: String) async throws {
        trial.server.replace(path) { _ in
            Response(
                status: .ok,
                body: ResponseBody { writer in
                    let part = ByteBuffer(repeating: UInt8(ascii: " "), count: 65_536)
                    while true { try await writer.write(part) }
                })
        }
        let outcome = try await trial.signIn()
        #expect(outcome.error?.code == .serverUnreachable)
        #expect(outcome.tokens == nil)
    }

    @Test func `a server that does not answer is given up`() async throws {
        trial.server.replace("/token") { _ in
            try await Task.sleep(for: .seconds(600))
            return Response(status: .ok)
        }
        var trial = self.trial
        trial.transportLimit = .milliseconds(500)
        #expect(try await trial.signIn().error?.code == .serverUnreachable)
    }

    @Test(arguments: ["/.well-known/oauth-authorization-server", "/token", "/jwks.json"])
    func `no redirect is followed`(path: String) async throws {
        trial.server.replace(path) { _ in
            Response(status: .temporaryRedirect, headers: [.location: "/elsewhere"])
        }
        let error = try await trial.signIn().error
        #expect(error != nil)
        #expect(trial.server.received("/elsewhere").isEmpty)
    }

    @Test func `metadata of another issuer is refused before anything is sent`() async throws {
        let metadata = trial.server.metadata(["issuer": .string("\(trial.server.issuer)/")])
        trial.server.replace("/.well-known/oauth-authorization-server") { _ in
            ScriptedAuthorizationServer.json(metadata)
        }
        #expect(try await trial.signIn().error?.code == .issuerMismatch)
        #expect(trial.server.received.count == 1)
    }

    @Test(
        arguments: [
            ["iss": "https://evil.example"], ["aud": "other"],
            ["aud": .array(["desktop", "other"])], ["azp": "other"],
            ["exp": .integer(LoginTrial.now - 61)], ["nonce": "other"], ["nonce": nil],
            ["at_hash": "AAAAAAAAAAAAAAAAAAAAAA"], ["sub": nil],
        ] as [[String: JSONValue?]])
    func `a wrong ID token ends the sign-in, and the tokens are revoked`(
        changes: [String: JSONValue?]
    ) async throws {
        let server = trial.server
        server.replace("/token") { _ in
            var tokens = server.tokens(1)
            tokens["id_token"] = .string(try server.idToken(changes))
            return ScriptedAuthorizationServer.json(tokens)
        }
        let outcome = try await trial.signIn()
        #expect(outcome.error?.code == .idTokenRefused)
        #expect(outcome.tokens == nil)
        #expect(server.received("/revoke").first?.fields["token"] == "refresh-1")
    }

    @Test func `an ID token that another key has signed is refused`() async throws {
        let server = trial.server
        server.replace("/token") { _ in
            var tokens = server.tokens(1)
            tokens["id_token"] = .string(try server.idToken(key: try ECPrivateKey.generate()))
            return ScriptedAuthorizationServer.json(tokens)
        }
        #expect(try await trial.signIn().error?.code == .idTokenRefused)
    }

    @Test func `a refresh for another user is refused`() async throws {
        let server = trial.server
        _ = try await trial.signIn()
        server.replace("/token") { _ in
            var tokens = server.tokens(2)
            tokens["id_token"] = .string(try server.idToken(["sub": "acc_other"]))
            return ScriptedAuthorizationServer.json(tokens)
        }
        let outcome = try await trial.signIn()
        #expect(outcome.error?.code == .idTokenRefused)
        #expect(outcome.tokens?.refreshToken == "refresh-1")
    }

    @Test func `connections that say nothing take the places of at most sixteen, and only while they last`()
        async throws
    {
        let outcome = try await trial.signIn { browser, url in
            let target = TestBrowser.parameter("redirect_uri", of: url)
            let port = try #require(Int(target.split(separator: ":").last ?? ""))
            let silent = try await SilentConnections(port: port)
            // The seventeenth gets no place. The first ones end by themselves after 10 seconds, so a slow
            // machine opens others.
            try await eventually { try await silent.hasRefused() }
            await silent.close()
            try await eventually { (try? await browser.get("\(target)/").status) == 404 }
            try await browser.signIn(url)
        }
        #expect(outcome.error == nil)
    }
}

/// Connections that send nothing.
private actor SilentConnections {
    private let port: Int
    private var open: [any Channel] = []

    /// Opens sixteen.
    init(port: Int) async throws {
        self.port = port
        for _ in 0..<16 { try await openOne() }
    }

    private func openOne() async throws {
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connect(host: "127.0.0.1", port: port).get()
        open.append(channel)
    }

    /// Opens one more, and returns true if the server closes it within a second, long before its time limit.
    func hasRefused() async throws -> Bool {
        open.removeAll { !$0.isActive }
        try await openOne()
        guard let last = open.last else { return false }
        let end = ContinuousClock.now + .seconds(1)
        while last.isActive, ContinuousClock.now < end { try await Task.sleep(for: .milliseconds(5)) }
        return !last.isActive
    }

    func close() async {
        for channel in open { try? await channel.close() }
        open = []
    }
}
