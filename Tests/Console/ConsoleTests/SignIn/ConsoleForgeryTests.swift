import NIOHTTP1
import Testing

@testable import Console
@testable import HTTPEngine

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
