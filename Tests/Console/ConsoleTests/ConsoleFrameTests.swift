import Foundation
import NIOHTTP1
import TestSupport
import Testing

@testable import Console
@testable import HTTPEngine

/// The frame of the console, and what protects every response.
@Suite struct ConsoleFrameTests {
    @Test func `pages are in the order of their entries, and the page of the moment is marked`() async throws
    {
        let console = try TestedConsole()
        await console.signIn()
        let page = await console.get("/console/first/anything")
        #expect(page.status == .ok)
        let links = page.text.matches(of: /<li><a href="([^"]+)"( aria-current="page")?>/)
        #expect(links.map { String($0.1) } == ["/console/first", "/console/second", "/console/all-apps"])
        #expect(links.filter { $0.2 != nil }.map { String($0.1) } == ["/console/first"])
        #expect(page.text.contains("<title>Named - siwa</title>"))
        #expect(page.text.contains("olga"))
    }

    @Test(arguments: ["/", "/console", "/console/"])
    func `the root leads to the first page of the navigation`(path: String) async throws {
        let console = try TestedConsole()
        await console.signIn()
        let response = await console.get(path)
        #expect(response.status == .seeOther)
        #expect(response.location == "/console/first")
    }

    @Test func `a path with fixed text wins against a path with a value, and values are decoded`()
        async throws
    {
        let console = try TestedConsole()
        await console.signIn()
        #expect(await console.get("/console/first/fixed").text.contains("Fixed"))
        let named = await console.get("/console/first/%3Cb%3E%20%2F%C3%A9")
        #expect(named.text.contains("&lt;b&gt; /é"))
        #expect(await console.get("/console/first?q=a+b%26&q=c").text.contains("a b&amp;"))
    }

    @Test(arguments: [
        "/console/nothing", "/console/first/", "/console/first/a/b", "/console/first/%zz", "/console//first",
        "/console/gone", "/console/fakes", "/console/First",
    ])
    func `what is not there is a page that says so`(path: String) async throws {
        let console = try TestedConsole()
        await console.signIn()
        let response = await console.get(path)
        #expect(response.status == .notFound)
        #expect(response.text.contains("<h1>Not found</h1>"))
        #expect(response.text.contains("aria-label=\"Pages\""))
    }

    @Test func `the interface is not on the console's port`() async throws {
        let console = try TestedConsole()
        await console.signIn()
        for path in ["/v1/accounts", "/health", "/consoles", "/metrics"] {
            #expect(await console.get(path).status == .notFound)
        }
    }

    @Test func `a method that a path does not have is refused with those that it has`() async throws {
        let console = try TestedConsole()
        await console.signIn()
        let token = try await console.formToken()
        let post = await console.send(.POST, "/console/second", body: "csrf=\(token)")
        #expect(post.status == .methodNotAllowed)
        #expect(post.values(of: "allow") == ["GET, HEAD"])
        let get = await console.get("/console/refusing")
        #expect(get.status == .methodNotAllowed)
        #expect(get.values(of: "allow") == ["POST"])
        for method in [HTTPMethod.PUT, .DELETE, .PATCH, .OPTIONS, .TRACE] {
            let response = await console.send(method, "/console/first")
            #expect(response.status == .methodNotAllowed)
            #expect(response.values(of: "allow") == ["GET, HEAD, POST"])
        }
    }

    @Test func `HEAD has the fields of GET without the body`() async throws {
        let console = try TestedConsole()
        await console.signIn()
        let response = await console.send(.HEAD, "/console/first")
        #expect(response.status == .ok)
        #expect(response.body.isEmpty)
        #expect(await console.send(.HEAD, "/console/nothing").status == .notFound)
    }

    @Test func `a page that fails is an error without its text`() async throws {
        let console = try TestedConsole()
        await console.signIn()
        for path in ["/console/broken"] {
            let response = await console.get(path, headers: [("x-request-id", "abc.1")])
            #expect(response.status == .internalServerError)
            #expect(response.text.contains("abc.1"))
            #expect(!response.text.contains("Failure"))
        }
    }

    @Test func `every response has the fields that protect it`() async throws {
        let console = try TestedConsole()
        var responses = [
            await console.get("/console/sign-in"), await console.get("/console/first"),
            await console.send(.GET, "/console", host: "evil.example"),
            await console.send(.POST, "/console/first"), await console.get("/elsewhere"),
            await console.send(.PUT, "/console"),
            await console.send(.GET, "/console", headers: [("sec-fetch-site", "cross-site")]),
        ]
        responses.append(await console.signIn())
        responses.append(await console.signIn(with: "siwa_wrong"))
        await console.signIn()
        for path in [
            "/console/first", "/console/nothing", "/console/broken", "/console/refusing", "/console?a=%",
            "/console/live",
        ] {
            responses.append(await console.get(path))
        }
        responses += [ConsoleAssets.style, ConsoleAssets.script].map { file in
            ConsoleReply(contentType: file.contentType, body: file.bytes, isImmutable: true).response
        }
        for response in responses {
            let policy = response.values(of: "content-security-policy")
            #expect(policy == [ConsoleReply.contentSecurityPolicy], "\(response.status)")
            #expect(response.values(of: "x-content-type-options") == ["nosniff"])
            #expect(response.values(of: "referrer-policy") == ["same-origin"])
            #expect(response.values(of: "cross-origin-opener-policy") == ["same-origin"])
            #expect(response.values(of: "x-frame-options") == ["DENY"])
            #expect(
                response.forbidsCaching
                    != response.values(of: "cache-control").contains { $0.contains("immutable") })
        }
        #expect(!ConsoleReply.contentSecurityPolicy.contains("unsafe"))
    }

    @Test func `style and script are files with the hash of their content, and pages name the hash`()
        async throws
    {
        let console = try TestedConsole()
        let page = await console.get("/console/sign-in").text
        for file in [ConsoleAssets.style, ConsoleAssets.script] {
            #expect(page.contains("\"\(file.path)\" integrity=\"\(file.integrity)\""))
            let response = await console.get(file.path)
            #expect(response.status == .ok)
            #expect(response.body == file.bytes)
            #expect(await console.get(file.path + "x").status != .ok)
        }
    }

    /// A style of an element or a script in a page would need a weaker policy.
    @Test func `no page has a style or a script of its own`() throws {
        let folder = ProjectFolder.root.appending(path: "Sources/Console")
        let files = try #require(FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil))
        var count = 0
        for case let file as URL in files where file.pathExtension == "swift" {
            let text = try String(contentsOf: file, encoding: .utf8)
            count += 1
            #expect(
                text.firstMatch(of: /style=\\?"|<style|\son[a-z]+=\\?"|javascript:/) == nil, "\(file.path)")
            if file.lastPathComponent != "ConsoleFrame.swift" {
                #expect(!text.contains("<script"), "\(file.path)")
            }
        }
        #expect(count > 30)
    }

    @Test func `a live page names its updates, and they tell of a change once`() async throws {
        let console = try TestedConsole()
        await console.signIn()
        #expect(!(await console.get("/console/second").text.contains("data-live")))
        let page = await console.get("/console/first").text
        let address = try #require(page.firstMatch(of: /data-live="([^"]+)"/)).1
        console.live.changed()
        let event = await console.get(String(address))
        #expect(event.contentType.map { "\($0)" } == "text/event-stream")
        #expect(event.text == "retry: 1000\nid: 2\nevent: change\ndata: 2\n\n")
        async let waiting = console.get(String(address), headers: [("last-event-id", "2")])
        while console.live.waiterCount == 0 { await Task.yield() }
        console.live.changed()
        #expect(await waiting.text.contains("id: 3"))
        #expect(console.live.waiterCount == 0)
    }

    @Test func `waits for changes end with their task, and have a bound`() async throws {
        let live = LiveUpdates()
        let waits = (0..<64).map { _ in Task { await live.wait(after: 1) } }
        while live.waiterCount < 64 { await Task.yield() }
        #expect(await live.wait(after: 1, atMost: .milliseconds(1)) == .busy)
        for wait in waits { wait.cancel() }
        for wait in waits { #expect(await wait.value == .unchanged) }
        #expect(live.waiterCount == 0)
        #expect(await live.wait(after: 1, atMost: .milliseconds(1)) == .unchanged)
    }

    @Test func `a sentence of an action is shown once, as text`() async throws {
        let console = try TestedConsole()
        await console.signIn()
        let token = try await console.formToken()
        let response = await console.send(.POST, "/console/first", body: "csrf=\(token)&what=it")
        #expect(response.status == .seeOther)
        #expect(response.location == "/console/second")
        #expect(console.carriedOut == ["it"])
        #expect(await console.get("/console/second").text.contains("Done: &lt;b&gt;&amp;"))
        #expect(!(await console.get("/console/second").text.contains("Done:")))
        console.cookie["siwa-console-notice"] = "Zm9yZ2Vk"
        #expect(!(await console.get("/console/second").text.contains("role=\"status\"")))
    }

    @Test func `the sentence of another session is not shown`() async throws {
        let console = try TestedConsole()
        await console.signIn()
        let token = try await console.formToken()
        await console.send(.POST, "/console/first", body: "csrf=\(token)&what=it")
        let notice = try #require(console.cookie["siwa-console-notice"])
        console.forgetCookies()
        await console.signIn()
        console.cookie["siwa-console-notice"] = notice
        #expect(!(await console.get("/console/second").text.contains("Done:")))
    }

    @Test func `a refused form says why, and leads back to the page that it came from`() async throws {
        let console = try TestedConsole()
        await console.signIn()
        let token = try await console.formToken()
        for (referer, back) in [
            ("http://127.0.0.1:9090/console/first?q=1", "/console/first?q=1"),
            ("http://evil.example/other", "/console"), ("javascript:alert(1)", "/console"),
        ] {
            let response = await console.send(
                .POST, "/console/refusing", body: "csrf=\(token)", headers: [("referer", referer)])
            #expect(response.status == .unprocessableEntity)
            #expect(response.text.contains("That is no name."))
            #expect(response.text.contains("href=\"\(back)\""))
        }
    }

    @Test(arguments: [
        "//evil.example", "https://evil.example/", "/\\evil.example", "/a%0d%0ax", "/second//x", "",
        "/a%20b",
    ])
    func `an action leads nowhere but into the console`(path: String) async throws {
        let console = try TestedConsole()
        await console.signIn()
        let token = try await console.formToken()
        let response = await console.send(.POST, "/console/first", body: "csrf=\(token)&to=\(path)")
        let location = try #require(response.location)
        #expect(location == "/console" || location.hasPrefix("/console/"))
        #expect(!location.contains("//") && !location.contains("\r") && !location.contains(" "))
    }
}

/// Queries and forms that are too large or malformed.
@Suite struct ConsoleBoundsTests {
    @Test(arguments: [
        String(repeating: "a", count: ConsoleFields.mostBytes + 1),
        (0...ConsoleFields.mostFields).map { "a\($0)=1" }.joined(separator: "&"),
        "a=%", "a=%4", "a=%zz", "%ff=1", "a=%00", "a=%C3%28",
    ])
    func `a query or form that is malformed or too large is refused`(fields: String) async throws {
        let console = try TestedConsole()
        await console.signIn()
        let token = try await console.formToken()
        let query = await console.get("/console/first?\(fields)")
        #expect(query.status == .badRequest)
        #expect(query.code == "parameter_malformed")
        let form = await console.send(.POST, "/console/first", body: "csrf=\(token)&\(fields)")
        #expect(form.status == .badRequest)
        #expect(console.carriedOut.isEmpty)
    }

    @Test func `the largest query and form pass`() async throws {
        let console = try TestedConsole()
        await console.signIn()
        let most = (1...ConsoleFields.mostFields).map { "a\($0)=1" }.joined(separator: "&")
        #expect(await console.get("/console/first?\(most)").status == .ok)
        let token = try await console.formToken()
        let body = "csrf=\(token)&what="
        let text = String(repeating: "x", count: ConsoleFields.mostBytes - body.utf8.count)
        #expect(await console.send(.POST, "/console/first", body: body + text).status == .seeOther)
        #expect(console.carriedOut == [text])
    }

    @Test(arguments: ["application/json", "text/plain", "multipart/form-data; boundary=x", ""])
    func `a body that is no form is refused`(type: String) async throws {
        let console = try TestedConsole()
        await console.signIn()
        let token = try await console.formToken()
        let response = await console.send(
            .POST, "/console/first", body: "csrf=\(token)", headers: [("content-type", type)])
        #expect(response.status == .badRequest)
        #expect(console.carriedOut.isEmpty)
    }
}
