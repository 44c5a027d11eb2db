import AppleAccounts
import Cryptography
import HTTPAPI
import NIOHTTP1
import Synchronization
import Testing

@testable import Console
@testable import HTTPEngine

/// Sessions of operators in production.
@Suite struct ConsoleSessionTests {
    private static let pages = ["/console/first", "/console/first/x?a=b", "/console/nothing"]

    @Test(arguments: pages)
    func `without a session every path leads to the sign-in, and from there back`(path: String) async throws {
        let console = try TestedConsole()
        let refused = await console.get(path)
        #expect(refused.status == .seeOther)
        let location = try #require(refused.location)
        #expect(location.hasPrefix("/console/sign-in?then="))
        let then = try #require(location.split(separator: "=", maxSplits: 1).last)
        let signedIn = await console.signIn(then: String(then))
        #expect(signedIn.status == .seeOther)
        #expect(signedIn.location == path)
        #expect(await console.get(path).status == (path == "/console/nothing" ? .notFound : .ok))
    }

    @Test(arguments: [
        "//evil.example", "https://evil.example/console", "/console//evil.example", "/v1/accounts",
        "/console/a%0d%0aset-cookie:x",
    ])
    func `the sign-in leads nowhere but into the console`(then: String) async throws {
        let console = try TestedConsole()
        #expect(await console.signIn(then: then).location == "/console")
    }

    @Test func `a session ends after half an hour, also when it is used`() async throws {
        let console = try TestedConsole()
        await console.signIn()
        for _ in 0..<2 {
            console.wait(milliseconds: 899_999)
            #expect(await console.get("/console/first").status == .ok)
        }
        console.wait(milliseconds: 2)
        #expect(await console.get("/console/first").status == .seeOther)
        let token = ConsoleFormToken.make(key: [])
        #expect(await console.send(.POST, "/console/first", body: "csrf=\(token)").status == .unauthorized)
        #expect(console.carriedOut.isEmpty)
    }

    @Test func `a clock that is set back does not prolong a session`() async throws {
        let console = try TestedConsole()
        await console.signIn()
        console.wait(milliseconds: -60_000)
        #expect(await console.get("/console/first").status == .seeOther)
    }

    @Test func `a session ends with the key, with its role, and with another key of the same name`()
        async throws
    {
        let key = TestedConsole.operatorKey
        let changes: [[APIKey]] = [
            [], [APIKey(name: key.name, hash: key.hash, scope: .all, roles: [.backend])],
            [APIKey(name: key.name, hash: APIKeySecret.hash("siwa_other"), scope: .all, roles: [.operator])],
        ]
        for keys in changes {
            let console = try TestedConsole()
            await console.signIn()
            #expect(await console.get("/console/first").status == .ok)
            console.configure(keys)
            #expect(await console.get("/console/first").status == .seeOther)
        }
    }

    @Test func `a changed limit of the key applies to its session`() async throws {
        let console = try TestedConsole()
        await console.signIn()
        #expect(await console.get("/console/all-apps").status == .ok)
        let key = TestedConsole.operatorKey
        console.configure([APIKey(name: key.name, hash: key.hash, scope: .only([]), roles: [.operator])])
        #expect(await console.get("/console/all-apps").status == .notFound)
    }

    /// Browsers send a cookie to every port of its host. A name of its own keeps each tunnel apart.
    @Test(arguments: ["prod-console.localhost:9090", "staging.console.localhost:9091", "console.example.com"])
    func `an operator signs in under any name of this machine`(host: String) async throws {
        let console = try TestedConsole()
        #expect(await console.signIn(origin: "http://\(host)").status == .seeOther)
        #expect(await console.send(.GET, "/console/first", host: host).status == .ok)
    }

    @Test func `signing out ends the session for copies of its cookie too`() async throws {
        let console = try TestedConsole()
        await console.signIn()
        let copy = console.cookie
        let token = try await console.formToken()
        let out = await console.send(.POST, "/console/sign-out", body: "csrf=\(token)")
        #expect(out.status == .seeOther)
        #expect(out.location == "/console/sign-in")
        #expect(console.cookie.isEmpty)
        console.cookie = copy
        #expect(await console.get("/console/first").status == .seeOther)
        await console.signIn()
        #expect(await console.get("/console/first").status == .ok)
    }

    @Test func `a changed cookie is no session`() async throws {
        let console = try TestedConsole()
        await console.signIn()
        let good = try #require(console.cookie["siwa-console"])
        var bytes = Array(good.utf8)
        for place in stride(from: 0, to: bytes.count - 1, by: 7) {
            let old = bytes[place]
            bytes[place] = old == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
            console.cookie["siwa-console"] = String(decoding: bytes, as: UTF8.self)
            #expect(await console.get("/console/first").status == .seeOther, "\(place)")
            bytes[place] = old
        }
        for other in ["", "A", String(repeating: "A", count: 5000), String(good.dropLast(4))] {
            console.cookie["siwa-console"] = other
            #expect(await console.get("/console/first").status == .seeOther)
        }
        // What was sealed for another purpose is no session.
        let session = ConsoleSession(of: TestedConsole.operatorKey, at: console.now)
        console.cookie["siwa-console"] = console.site.access.seal.seal(.notice, session.json)
        #expect(await console.get("/console/first").status == .seeOther)
        console.cookie["siwa-console"] = console.site.access.seal.seal(.session, session.json)
        #expect(await console.get("/console/first").status == .ok)
    }

    @Test func `replicas with the same sealing key know the same sessions, others do not`() async throws {
        let (first, second) = (
            try TestedConsole(sealingKeys: Self.ring(1)), try TestedConsole(sealingKeys: Self.ring(1))
        )
        let third = try TestedConsole(sealingKeys: Self.ring(2))
        await first.signIn()
        (second.cookie, third.cookie) = (first.cookie, first.cookie)
        #expect(await second.get("/console/first").status == .ok)
        #expect(await third.get("/console/first").status == .seeOther)
        let token = try await first.formToken()
        #expect(await second.send(.POST, "/console/first", body: "csrf=\(token)").status == .seeOther)
    }

    @Test func `the cookie is out of reach of scripts and other sites, and bound to the host over https`()
        async throws
    {
        let console = try TestedConsole()
        let plain = try #require(await console.signIn().values(of: "set-cookie").first)
        #expect(plain.hasPrefix("siwa-console="))
        for part in ["; Path=/", "; HttpOnly", "; SameSite=Strict", "; Max-Age=1800"] {
            #expect(plain.contains(part))
        }
        #expect(!plain.contains("Secure") && !plain.contains("Domain"))
        console.forgetCookies()
        let response = await console.signIn(origin: "https://console.example.com")
        let secure = try #require(response.values(of: "set-cookie").first)
        #expect(secure.hasPrefix("__Host-siwa-console="))
        #expect(secure.contains("; Secure") && secure.contains("; Path=/;"))
        #expect(await console.get("/console/first").status == .ok)
    }

    @Test func `the key is in no response, and the session's own key in no cookie`() async throws {
        let console = try TestedConsole()
        let responses = [
            await console.signIn(), await console.get("/console/first"),
            await console.signIn(with: "siwa_guess"),
        ]
        for response in responses {
            #expect(!response.text.contains(TestedConsole.secret) && !response.text.contains("siwa_guess"))
            #expect(!response.fields.contains { $0.value.contains(TestedConsole.secret) })
        }
        #expect(!(console.cookie["siwa-console"] ?? "").contains("olga"))
    }

    @Test func `a link of another site opens the page for an operator who is signed in`() async throws {
        let console = try TestedConsole()
        // The browser sends no cookie with it (SameSite=Strict).
        let response = await console.get("/console/first?q=1", headers: [("sec-fetch-site", "cross-site")])
        #expect(response.status == .ok)
        #expect(response.text.contains("http-equiv=\"refresh\" content=\"0\""))
        #expect(response.text.contains("href=\"/console/first?q=1\""))
    }

    private static func ring(_ byte: UInt8) -> SealingKeyRing? {
        SealingKey(name: "k", bytes: [UInt8](repeating: byte, count: 32)).flatMap { SealingKeyRing([$0]) }
    }

    @Test(arguments: [TestedConsole.secret, TestedConsole.limitedSecret])
    func `a session that was signed out stays ended, however many sign-ins follow`(secret: String)
        async throws
    {
        let console = try TestedConsole()
        await console.signIn()
        let copy = console.cookie
        await console.send(.POST, "/console/sign-out", body: "csrf=\(try await console.formToken())")
        for _ in 0..<1100 {
            console.wait(milliseconds: 1)
            await console.signIn(with: secret)
            await console.send(.POST, "/console/sign-out", body: "csrf=\(try await console.formToken())")
        }
        console.cookie = copy
        #expect(await console.get("/console/first").status == .seeOther)
    }

    @Test func `a session that was signed out is none at another replica, and none after a restart`()
        async throws
    {
        let tickets = TestedConsole.Tickets()
        let first = try TestedConsole(sealingKeys: Self.ring(1), tickets: tickets)
        let other = try TestedConsole(sealingKeys: Self.ring(1), tickets: tickets)
        await first.signIn()
        let copy = first.cookie
        let token = try await first.formToken()
        other.cookie = copy
        #expect(await other.get("/console/first").status == .ok)
        await first.send(.POST, "/console/sign-out", body: "csrf=\(token)")
        let restarted = try TestedConsole(sealingKeys: Self.ring(1), tickets: tickets)
        for console in [first, other, restarted] {
            console.cookie = copy
            #expect(await console.get("/console/first").status == .seeOther)
            #expect(await console.get("/console/nothing").status == .seeOther)
            #expect(await console.get("/console/live").status == .unauthorized)
            let posted = await console.send(.POST, "/console/first", body: "csrf=\(token)&what=x")
            #expect(posted.status == .unauthorized)
            #expect(console.carriedOut.isEmpty)
        }
    }

    @Test
    func `a replica with a slow clock finds the end of a session after another has purged what is over`()
        async throws
    {
        let tickets = TestedConsole.Tickets()
        let first = try TestedConsole(sealingKeys: Self.ring(1), tickets: tickets)
        let slow = try TestedConsole(sealingKeys: Self.ring(1), tickets: tickets)
        await first.signIn()
        slow.cookie = first.cookie
        await first.send(.POST, "/console/sign-out", body: "csrf=\(try await first.formToken())")
        first.wait(milliseconds: ConsoleSession.lifetime + 300_000)
        _ = try await tickets.purgeTickets(expiredBefore: first.now)
        slow.wait(milliseconds: ConsoleSession.lifetime - 1)
        #expect(await slow.get("/console/first").status == .seeOther)
    }

    @Test func `no session is good while the database does not say which have ended`() async throws {
        let tickets = TestedConsole.Tickets()
        let console = try TestedConsole(tickets: tickets)
        await console.signIn()
        let token = try await console.formToken()
        tickets.isReadable.withLock { $0 = false }
        let page = await console.get("/console/first")
        #expect(page.status == .serviceUnavailable)
        #expect(page.code == "console_session_unknown")
        #expect(!page.text.contains("First"))
        let posted = await console.send(.POST, "/console/first", body: "csrf=\(token)&what=x")
        #expect(posted.status == .serviceUnavailable)
        #expect(console.carriedOut.isEmpty)
        tickets.isReadable.withLock { $0 = true }
        #expect(await console.get("/console/first").status == .ok)
    }

    @Test func `an end that the database does not keep counts in this process, and the operator learns it`()
        async throws
    {
        let tickets = TestedConsole.Tickets()
        let console = try TestedConsole(tickets: tickets)
        await console.signIn()
        let copy = console.cookie
        tickets.isWritable.withLock { $0 = false }
        let out = await console.send(
            .POST, "/console/sign-out", body: "csrf=\(try await console.formToken())")
        #expect(out.status == .serviceUnavailable)
        #expect(out.code == "console_end_not_written")
        #expect(out.text.contains("after a restart") && out.text.contains("olga"))
        #expect(console.cookie.isEmpty)
        console.cookie = copy
        #expect(await console.get("/console/first").status == .seeOther)
        // Another key, and a later session of the same key, are not concerned.
        console.forgetCookies()
        await console.signIn(with: TestedConsole.limitedSecret)
        #expect(await console.get("/console/first").status == .ok)
        console.forgetCookies()
        console.wait(milliseconds: 1)
        await console.signIn()
        #expect(await console.get("/console/first").status == .ok)
    }
}
