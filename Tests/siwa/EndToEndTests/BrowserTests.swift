import ScriptedHTTP
import StrictJSON
import Testing

/// The browser that other tests share.
struct BrowserTests {
    @Test func `a browser keeps nothing from one test to the next`() async throws {
        let site = try await ScriptedServer(
            always: .json("{}", headers: "Set-Cookie: a=b; HttpOnly\r\nCache-Control: max-age=3600\r\n"))
        let differences = """
            return [innerWidth == 320, matchMedia('(prefers-color-scheme: dark)').matches,
                navigator.userAgent == 'Phone', !document.hasFocus()].join()
            """
        for _ in 0..<2 {
            try await Browser.with { browser in
                try await browser.open("\(site.baseURL)/first")
                #expect(try await browser.evaluate(differences) == "false,false,false,false")
                let departures = try await browser.departures()
                #expect(departures.contains("\(site.baseURL)/first"))
                #expect(!departures.contains("\(site.baseURL)/second"))
                try await browser.show(width: 320, isDark: true)
                try await browser.pretendToBe("Phone")
                try await browser.switchScripts(on: false)
                try await browser.open("\(site.baseURL)/second")
                #expect(try await browser.evaluate(differences) == "true,true,true,false")
            }
        }
        let (first, second) = (
            site.requests.filter { $0.hasPrefix("GET /first") },
            site.requests.filter { $0.hasPrefix("GET /second") }
        )
        // The other one would come from the cache.
        #expect(first.count == 2)
        #expect(first.allSatisfy { !$0.contains("Cookie:") && !$0.contains("Phone") })
        #expect(second.count == 2)
        #expect(second.allSatisfy { $0.contains("Cookie: a=b") && $0.contains("Phone") })
        try await site.close()
    }
}
