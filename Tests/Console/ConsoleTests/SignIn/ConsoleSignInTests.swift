import AppleAccounts
import NIOHTTP1
import OAuth
import Testing

@testable import Console
@testable import HTTPAPI
@testable import HTTPEngine

/// The sign-in with an API key.
@Suite struct ConsoleSignInTests {
    @Test(arguments: [
        (TestedConsole.backendSecret, "has no role operator"),
        (TestedConsole.metricsSecret, "key for the metrics"), ("siwa_unknown", "no API key of this service"),
        ("siwa_operato", "no API key of this service"), ("SIWA_OPERATOR", "no API key of this service"),
    ])
    func `a key that opens no session gets a sentence that says why`(key: String, sentence: String)
        async throws
    {
        let console = try TestedConsole()
        let response = await console.signIn(with: key)
        #expect(response.status == .forbidden)
        #expect(response.text.contains(sentence))
        #expect(response.text.contains("role=\"alert\""))
        #expect(response.values(of: "set-cookie").isEmpty)
        #expect(await console.get("/console/first").status == .seeOther)
    }

    @Test(arguments: ["", "%20", String(repeating: "x", count: 513)])
    func `what is no key is refused`(key: String) async throws {
        let console = try TestedConsole()
        #expect(await console.signIn(with: key).status == .unprocessableEntity)
    }

    @Test(arguments: [8193, 60_000])
    func `a form of the sign-in that is too long is refused before it is read`(size: Int) async throws {
        let console = try TestedConsole()
        let frame = "key=&then="
        let response = await console.signIn(
            with: String(repeating: "%20", count: (size - frame.utf8.count + 2) / 3))
        #expect(response.status == .badRequest)
        #expect(response.code == "parameter_malformed")
    }

    @Test func `no form of a visitor without a session is read`() async throws {
        let console = try TestedConsole()
        #expect(await console.send(.POST, "/console/first", body: "a=%zz").status == .unauthorized)
        #expect(await console.get("/console/first?a=%zz").status == .seeOther)
    }

    @Test func `the longest key that a caller can present is looked up`() {
        let key = String(repeating: "x", count: CallerDirectory.longestSecret)
        let callers = CallerDirectory(keys: [
            APIKey(name: "long", hash: APIKeySecret.hash(key), scope: .all, roles: [.operator]),
            APIKey(name: "longer", hash: APIKeySecret.hash(key + "x"), scope: .all),
        ])
        guard case .operatorKey = callers.operatorKey(presenting: key) else {
            Issue.record("the longest key is not found")
            return
        }
        guard case .unknown = callers.operatorKey(presenting: key + "x") else {
            Issue.record("a longer key is found")
            return
        }
        #expect(callers.caller(named: "longer", presenting: key + "x") == nil)
    }

    @Test func `a key that was pasted with a line break is taken`() async throws {
        let console = try TestedConsole()
        #expect(await console.signIn(with: "%20\(TestedConsole.secret)%0A").status == .seeOther)
        #expect(await console.get("/console/first").status == .ok)
    }

    @Test func `guesses are slowed down, and a right key is still taken`() async throws {
        let console = try TestedConsole()
        for guess in 1...10 {
            #expect(await console.signIn(with: "siwa_guess\(guess)").status == .forbidden)
        }
        let paused = await console.signIn(with: "siwa_guess")
        #expect(paused.status == .tooManyRequests)
        #expect(paused.values(of: "retry-after") == ["1"])
        #expect(await console.signIn().status == .seeOther)
        // The right key does not end the pause of the guesser.
        #expect(await console.signIn(with: "siwa_guess").status == .tooManyRequests)
        console.wait(milliseconds: 1000)
        #expect(await console.signIn(with: "siwa_guess").status == .forbidden)
        #expect(await console.signIn(with: "siwa_guess").values(of: "retry-after") == ["2"])
    }

    @Test func `the audit log keeps who signed in and out, and no session begins without it`() async throws {
        let console = try TestedConsole()
        await console.signIn(with: "siwa_wrong")
        await console.signIn()
        let token = try await console.formToken()
        await console.send(.POST, "/console/sign-out", body: "csrf=\(token)")
        #expect(console.audited == ["olga console_sign_in", "olga console_sign_out"])
        await console.signIn()
        let later = try await console.formToken()
        console.stopAudit()
        // A session ends in any case.
        #expect(await console.send(.POST, "/console/sign-out", body: "csrf=\(later)").status == .seeOther)
        let refused = await console.signIn()
        #expect(refused.status == .serviceUnavailable)
        #expect(refused.values(of: "set-cookie").isEmpty)
    }

    @Test func `the audit log has tries with a right key that has no role of an operator, once a minute`()
        async throws
    {
        let console = try TestedConsole()
        #expect(await console.signIn(with: TestedConsole.backendSecret).status == .forbidden)
        #expect(await console.signIn(with: TestedConsole.metricsSecret).status == .forbidden)
        #expect(await console.signIn(with: "siwa_unknown").status == .forbidden)
        let rows = ["backend console_sign_in refused", "metrics key console_sign_in refused"]
        #expect(console.audited == rows)
        // Once a minute for each key.
        console.wait(milliseconds: 59_999)
        #expect(await console.signIn(with: TestedConsole.backendSecret).status == .forbidden)
        #expect(console.audited == rows)
        console.wait(milliseconds: 1)
        #expect(await console.signIn(with: TestedConsole.backendSecret).status == .forbidden)
        #expect(console.audited == rows + rows.prefix(1))
        console.stopAudit()
        #expect(await console.signIn(with: TestedConsole.backendSecret).status == .forbidden)
    }

    @Test func `a limited operator sees what belongs to no app neither in the navigation nor by its path`()
        async throws
    {
        let console = try TestedConsole()
        await console.signIn(with: TestedConsole.limitedSecret)
        let page = await console.get("/console/first")
        #expect(page.text.contains("sees com.example.app"))
        #expect(!page.text.contains("/console/all-apps"))
        #expect(await console.get("/console/all-apps").status == .notFound)
        let token = try await console.formToken()
        #expect(await console.send(.POST, "/console/all-apps", body: "csrf=\(token)").status == .notFound)
        #expect(console.carriedOut.isEmpty)
    }

    @Test func `an operator's key opens no call, unless it has the other role too`() throws {
        let header = "Bearer \(TestedConsole.secret)"
        let callers = CallerDirectory(keys: TestedConsole.keys)
        #expect(throws: (any Error).self) { try callers.caller(presenting: header) }
        #expect(throws: (any Error).self) { try callers.metricsReader(presenting: header) }
        #expect(callers.caller(named: "olga", presenting: TestedConsole.secret) == nil)
        let both = APIKey(
            name: "olga", hash: APIKeySecret.hash(TestedConsole.secret), scope: .all,
            roles: [.operator, .backend])
        #expect(try CallerDirectory(keys: [both]).caller(presenting: header)?.name == "olga")
    }

    @Test func `development needs no sign-in, and shows the pages of development`() async throws {
        let console = try TestedConsole(isDevelopment: true)
        #expect(await console.get("/console/fakes").status == .ok)
        let page = await console.get("/console/first").text
        #expect(page.contains("developer") && !page.contains("Sign out"))
        #expect(await console.get("/console/sign-in").location == "/console")
        #expect(await console.signIn().location == "/console")
    }
}

/// Requests that pages of other sites make a browser send.
@Suite struct ConsoleForgeryTests {
    struct Attack: CustomTestStringConvertible, Sendable {
        let testDescription: String
        var token = Token.own
        var method = HTTPMethod.POST
        var headers: [(String, String)] = []
        var host = "127.0.0.1:9090"
        let status: HTTPResponseStatus

        enum Token { case own, none, empty, otherSession, changed, twiceFirstWrong }
    }

    static let attacks: [Attack] = [
        Attack(testDescription: "no token", token: .none, status: .forbidden),
        Attack(testDescription: "an empty token", token: .empty, status: .forbidden),
        Attack(testDescription: "the token of another session", token: .otherSession, status: .forbidden),
        Attack(testDescription: "a changed token", token: .changed, status: .forbidden),
        Attack(
            testDescription: "two tokens, the wrong one first", token: .twiceFirstWrong, status: .forbidden),
        Attack(
            testDescription: "a cross-site request", headers: [("sec-fetch-site", "cross-site")],
            status: .forbidden),
        Attack(
            testDescription: "a request of another host of the domain",
            headers: [("sec-fetch-site", "same-site")], status: .forbidden),
        Attack(
            testDescription: "two values of where it comes from",
            headers: [("sec-fetch-site", "same-origin"), ("sec-fetch-site", "cross-site")],
            status: .forbidden),
        Attack(
            testDescription: "another origin", headers: [("origin", "https://evil.example")],
            status: .forbidden),
        Attack(
            testDescription: "the origin of another port", headers: [("origin", "http://127.0.0.1:9091")],
            status: .forbidden),
        Attack(testDescription: "an origin that hides", headers: [("origin", "null")], status: .forbidden),
        Attack(testDescription: "another host", host: "evil.example", status: .misdirectedRequest),
        Attack(
            testDescription: "a host that begins well", host: "127.0.0.1.evil.example",
            status: .misdirectedRequest),
        Attack(testDescription: "GET for POST", method: .GET, status: .ok),
        Attack(testDescription: "HEAD for POST", method: .HEAD, status: .ok),
        Attack(testDescription: "PUT for POST", method: .PUT, status: .methodNotAllowed),
    ]

    @Test(arguments: attacks, [false, true])
    func `an action that a page of another site sends changes nothing`(
        attack: Attack, isDevelopment: Bool
    ) async throws {
        let console = try TestedConsole(isDevelopment: isDevelopment)
        let other = try TestedConsole(isDevelopment: isDevelopment)
        if !isDevelopment {
            await console.signIn()
            await other.signIn()
        }
        let own = Self.token(of: console)
        let fields =
            switch attack.token {
            case .own: "csrf=\(own)&"
            case .none: ""
            case .empty: "csrf=&"
            case .otherSession: "csrf=\(Self.token(of: other))&"
            case .changed: "csrf=\(own.hasPrefix("A") ? "B" : "A")\(own.dropFirst())&"
            case .twiceFirstWrong: "csrf=x&csrf=\(own)&"
            }
        let isBody = attack.method == .POST
        let response = await console.send(
            attack.method, "/console/first" + (isBody ? "" : "?\(fields)what=evil"),
            body: isBody ? "\(fields)what=evil" : "", headers: attack.headers, host: attack.host)
        #expect(response.status == attack.status)
        #expect(console.carriedOut.isEmpty)
        // The same request of the console's own page is carried out.
        let own2 = await console.send(
            .POST, "/console/first", body: "csrf=\(own)&what=good",
            headers: [("origin", "http://127.0.0.1:9090"), ("sec-fetch-site", "same-origin")])
        #expect(own2.status == .seeOther)
        #expect(console.carriedOut == ["good"])
    }

    private static func token(of console: TestedConsole) -> String {
        let cookies = console.cookie.map { "\($0.key)=\($0.value)" }.joined(separator: "; ")
        return console.site.access.visit(cookie: cookies, at: console.now)?.viewer.formToken ?? ""
    }

    @Test(arguments: [
        "evil.example", "127.0.0.1.evil.example", "localhost.evil.example", "evil.localhost.example.com",
        "127.1", "0.0.0.0", "10.0.0.1",
        "console.example.com.evil.example", "",
    ])
    func `a page whose host name leads to this machine reads nothing`(host: String) async throws {
        for isDevelopment in [false, true] {
            let console = try TestedConsole(isDevelopment: isDevelopment)
            for path in [
                "/", "/console/first", "/console/sign-in", "/console/live", ConsoleAssets.style.path,
            ] {
                let response = await console.send(.GET, path, host: host)
                #expect(response.status == .misdirectedRequest)
                #expect(response.code == "host_refused")
            }
        }
    }

    @Test func `the sign-in of another site's page is refused`() async throws {
        let console = try TestedConsole()
        for headers in [[("origin", "https://evil.example")], [("sec-fetch-site", "cross-site")]] {
            let response = await console.send(
                .POST, "/console/sign-in", body: "key=\(TestedConsole.secret)", headers: headers)
            #expect(response.status == .forbidden)
            #expect(response.values(of: "set-cookie").isEmpty)
        }
    }

    @Test func `a sign-out needs the token, and is no GET`() async throws {
        let console = try TestedConsole()
        await console.signIn()
        #expect(await console.send(.POST, "/console/sign-out").status == .forbidden)
        #expect(await console.get("/console/sign-out").status == .notFound)
        #expect(await console.get("/console/first").status == .ok)
    }
}
