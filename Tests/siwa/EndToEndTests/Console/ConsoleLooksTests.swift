import Foundation
import StrictJSON
import TestSupport
import Testing

/// Every page of the console in Chromium, with data: in light and dark, at the width of a phone, with the
/// keyboard alone, without scripts, and as axe sees it.
///
/// The pages are found as a visitor finds them, from the navigation on, so that a new page is looked at as soon
/// as a link leads to it. `PostedPage` has those that only a form leads to.
@Suite(.serialized) struct ConsoleLooksTests {
    /// More pages of different kinds than this are a mistake of the search.
    private static let mostPages = 90

    @Test func `every page fits, can be read, keeps its policy, and has no violation that axe finds`()
        async throws
    {
        try await Self.with { system, browser in
            var number = 0
            try await Self.visit(system, browser) { page in
                try await Self.look(at: page, number, browser)
                number += 1
            }
        }
    }

    @Test func `pages that only a form leads to fit, can be read, and have no violation that axe finds`()
        async throws
    {
        try await Self.with { system, browser in
            for (number, page) in PostedPage.allCases.enumerated() {
                do {
                    try await page.open(system, browser)
                } catch {
                    Issue.record("\(page): \(error), at \(try await browser.text())")
                    continue
                }
                try await Self.look(at: "posted/\(page)", number, browser)
            }
        }
    }

    /// Looks at the page that is open, with all that it unfolds.
    private static func look(at page: String, _ number: Int, _ browser: Browser) async throws {
        _ = try await browser.evaluate("document.querySelectorAll('details').forEach(e => e.open = true)")
        for (width, isDark) in [(1280, false), (1280, true), (375, true), (320, false)] as [(Int64, Bool)] {
            try await browser.show(width: width, isDark: isDark)
            // Named, so that a failure says which faults there are.
            let faults = try await browser.consoleFaults()
            #expect(faults == [], "\(page) at \(width)")
            if width != 320 {
                let violations = try await browser.axeViolations()
                #expect(violations == [], "\(page) at \(width), dark: \(isDark)")
            }
            try await keepPicture(browser, "\(number)-\(width)-\(isDark ? "dark" : "light")", page)
        }
        let refused = try await browser.messages().filter { $0.contains("Content Security Policy") }
        #expect(refused == [], "\(page)")
    }

    @Test func `the keyboard reaches the content at once, and every control in order with a mark`()
        async throws
    {
        try await Self.with { system, browser in
            try await Self.visit(system, browser) { page in
                try await browser.show(width: 1280)
                #expect(try await browser.tab() == "Skip to the content", "\(page)")
                let isInSight = try await browser.evaluate(
                    "return document.activeElement.getBoundingClientRect().top >= 0")
                #expect(isInSight == true, "\(page)")
                try await browser.press(key: "\u{E007}")
                #expect(try await browser.evaluate("return document.activeElement.id").string == "main")
                // The order of the keyboard is the order of the page, and the focus can be seen.
                let faults = try await browser.evaluate(
                    """
                    let faults = [];
                    for (let e of document.querySelectorAll('[tabindex]')) {
                        if (e.tabIndex > 0) faults.push('tabindex ' + e.outerHTML.slice(0, 80));
                    }
                    return faults;
                    """)
                #expect(faults.array?.isEmpty == true, "\(page) \(faults)")
                for _ in 0..<6 {
                    _ = try await browser.tab()
                    let mark = try await browser.evaluate(
                        """
                        let e = document.activeElement, style = getComputedStyle(e);
                        return e === document.body || e.tagName === 'IFRAME' || style.outlineStyle === 'solid'
                            ? '' : e.outerHTML.slice(0, 120)
                        """)
                    #expect(mark.string == "", "\(page)")
                }
            }
        }
    }

    @Test func `every page has its content, its navigation and its forms without scripts`() async throws {
        try await Self.with { system, browser in
            try await browser.switchScripts(on: false)
            try await Self.visit(system, browser) { page in
                let text = try await browser.text()
                #expect(text.contains("Settings") && text.count > 60, "\(page)")
            }
            // An action works too.
            try await browser.open(system.service + "/console/settings")
            try await browser.click("form[action='/console/settings/check'] button")
            try await browser.wait(for: "The checks run")
        }
    }

    @Test func `a page that is open follows what changes`() async throws {
        try await Self.with { system, browser in
            // The checks begin with the first look, so the page has no results yet.
            try await browser.open(system.service + "/console/settings")
            _ = try await browser.evaluate("document.querySelector('main').dataset.same = 'yes'")
            try await eventually {
                let rows = try await browser.evaluate(
                    "return document.querySelectorAll('#checks tbody tr').length")
                return (rows.integer ?? 0) > 3
            }
            let same = try await browser.evaluate("return document.querySelector('main').dataset.same")
            #expect(same.string == "yes")
            #expect(try await browser.refusals() == [])
        }
    }

    /// An address, a name and a client ID may be long. The columns behind them, and the buttons in the last one, stay
    /// in sight.
    @Test func `one long value pushes no column and no button out of sight`() async throws {
        let client = "com.example." + String(repeating: "a", count: 116)
        try await DevelopmentProcess.with(["--client-id", client, "--client-id", "com.example.web"]) {
            system in
            try await system.signIn([
                ("first_name", .string(String(repeating: "Ada", count: 40))), ("last_name", "Lovelace"),
                ("email", .string("a@" + String(repeating: "example.", count: 24) + "com")),
            ])
            try await Browser.with { browser in
                for page in [
                    "world", "people", "requests", "clients", "events", "world/google", "overview",
                    "settings", "audit",
                ] {
                    try await browser.open("\(system.service)/console/\(page)")
                    try await browser.show(width: 1280)
                    let wide = try await browser.evaluate(
                        """
                        return [...document.querySelectorAll('.scroll')].filter(e => e.checkVisibility() && e.scrollWidth > e.clientWidth + 1)
                            .map(e => e.ariaLabel + ' ' + e.scrollWidth + ' ' + e.innerText.slice(0, 40));
                        """)
                    #expect(wide.array?.compactMap(\.string) == [], "\(page)")
                    // On a phone a table may scroll, and its buttons are in sight nevertheless.
                    try await browser.show(width: 390)
                    let hidden = try await browser.evaluate(
                        """
                        return [...document.querySelectorAll('main button')].filter(e => e.checkVisibility())
                            .filter(e => e.getBoundingClientRect().right > innerWidth).map(e => e.innerText);
                        """)
                    #expect(hidden.array?.compactMap(\.string) == [], "\(page)")
                    #expect(try await browser.consoleFaults() == [], "\(page)")
                }
            }
        }
    }

    /// A change that arrives between the press and the release of a button would take the button away.
    @Test func `a page that changes by itself leaves what is being clicked where it is`() async throws {
        try await Self.with { system, browser in
            try await browser.open(system.service + "/console/requests")
            let follow = """
                window.changes = 0;
                const source = new EventSource(document.querySelector('main').dataset.live);
                source.addEventListener('change', () => setTimeout(() => { window.changes += 1; }, 800));
                window.pressed = document.querySelector('main tbody a');
                """
            _ = try await browser.evaluate(follow)
            func point(_ type: String) async throws {
                _ = try await browser.evaluate(
                    "window.pressed.dispatchEvent(new PointerEvent('\(type)', { bubbles: true }))")
            }
            try await point("pointerdown")
            let backend = system.backend
            try await eventually {
                _ = try await backend.verify("no-token")
                return try await browser.evaluate("return window.changes").integer ?? 0 > 1
            }
            #expect(try await browser.evaluate("return window.pressed.isConnected") == true)
            try await point("pointerup")
            // What has changed meanwhile is shown then.
            try await eventually { try await browser.evaluate("return window.pressed.isConnected") == false }
        }
    }

    @Test(arguments: [("desktop", 760), ("phone", 390)] as [(String, Int64)])
    func `a page in the preview is as wide as the choice says, and its region scrolls`(
        choice: String, width: Int64
    ) async throws {
        try await Self.with { system, browser in
            for window in [1280, 375] as [Int64] {
                try await browser.show(width: window)
                try await browser.open(system.service + "/console/clients/siwa-web?width=\(choice)")
                let found = try await browser.evaluate(
                    "return document.querySelector('iframe.preview').getBoundingClientRect().width")
                #expect(found.integer == width, "in a window of \(window)")
                #expect(try await browser.consoleFaults() == [])
            }
        }
    }

    private static func with(
        _ body: @Sendable (DevelopmentProcess, Browser) async throws -> Void
    ) async throws {
        try await DevelopmentProcess.with { system in
            try await live(at: system)
            try await Browser.with { try await body(system, $0) }
        }
    }

    /// Lets users sign in, one of them twice, and stop using the app; a token is refused.
    private static func live(at system: DevelopmentProcess) async throws {
        for number in 0..<3 {
            let (subject, members) = try await system.signIn(
                [
                    ("first_name", "Ada"), ("last_name", .string("<b>Lovelace \(number)")),
                    ("hide_email", .bool(number == 0)),
                ], code: true)
            guard number == 1 else { continue }
            try await system.revoke(subject)
            try await system.backend.post("/v1/sign-ins", members)
        }
        _ = try await system.backend.verify("no-token")
        try await system.console.post("/console/overview/link")
    }

    /// Opens one page of each kind, and gives its path while it is open. Pages whose paths differ only in what looks
    /// like an ID are of one kind.
    private static func visit(
        _ system: DevelopmentProcess, _ browser: Browser, _ body: (String) async throws -> Void
    ) async throws {
        // The checks begin with the first look at their page, which changes until they have ended.
        try await eventually {
            let page = try await system.console.get("/console/settings")
            return !page.contains("The checks run") && !page.contains("checking now")
        }
        var (count, waiting, kinds) = (0, ["/console"], Set<String>())
        while !waiting.isEmpty, count < mostPages {
            let path = waiting.removeFirst()
            try await browser.open(system.service + path)
            let links = try await browser.evaluate(
                "return [...document.querySelectorAll('a[href^=\"/console/\"]')].map(a => a.getAttribute('href'))"
            )
            for link in (links.array ?? []).compactMap(\.string) where kinds.insert(kind(of: link)).inserted {
                waiting.append(link)
            }
            let isPage = try await browser.url().hasPrefix(system.service + "/console/")
            guard isPage, path != "/console" else { continue }
            count += 1
            try await body(path)
        }
        #expect((2..<mostPages).contains(count))
    }

    private static func kind(of link: String) -> String {
        let parts = link.split(separator: "#")[0].split(separator: "?", maxSplits: 1)
        let path = parts[0].split(separator: "/").map { segment in
            segment.count > 24 || segment.contains { $0.isNumber || $0 == "%" } ? "*" : "\(segment)"
        }
        let names = parts.dropFirst().flatMap { $0.split(separator: "&") }
            .map { $0.prefix { $0 != "=" } }.sorted()
        return path.joined(separator: "/") + "?" + names.joined(separator: "&")
    }

    /// Keeps pictures where a developer asks for them.
    private static func keepPicture(_ browser: Browser, _ name: String, _ page: String) async throws {
        guard let folder = ProcessInfo.processInfo.environment["SIWA_TEST_PICTURES"] else { return }
        let place = page.split(separator: "?")[0].split(separator: "/").dropFirst().joined(separator: "-")
        try await browser.picture(to: "\(folder)/\(place.prefix(40))-\(name).png")
    }
}

/// The pages of the console that only a form leads to, which a crawl along links does not find.
enum PostedPage: CaseIterable {
    case peopleFound, nobodyFound, filterUnknown
    case appleToken, forgedToken, issuedToken, unknownToken
    case requestInspected, personDisabled
    /// Replays the newest request, whose code has been used.
    case requestReplayed, settingsChecked
    case erasureNotConfirmed, formOfAnotherSession
    /// At the end, because the person is gone.
    case personErased

    func open(_ system: DevelopmentProcess, _ browser: Browser) async throws {
        try await browser.show(width: 1280)
        switch self {
        case .peopleFound: try await search("Lovelace", "Search", in: system, browser, for: "authorized")
        case .nobodyFound:
            try await search("nobody@example.com", "Search", in: system, browser, for: "No account was found")
        case .filterUnknown:
            try await browser.open("\(system.service)/console/people")
            _ = try await browser.evaluate(
                "document.querySelector('#field-state').options[1].value = 'perhaps'")
            _ = try await browser.evaluate("document.querySelector('#field-state').selectedIndex = 1")
            try await press("Search", browser, for: "A filter has a value")
        case .requestInspected:
            // From a refused request to its token, from there to the person, and back to the request.
            try await browser.open("\(system.service)/console/requests?code=credential_revoked")
            try await browser.click("main tbody td:last-child a")
            let request = try await browser.url()
            try await press("Inspect its token", browser, for: "The request that it came with")
            try await browser.click("a[href^='/console/people/acc_']")
            try await browser.wait(for: "Requests with a token of this person")
            try await browser.click("a[href='\(request.dropFirst(system.service.count))']")
            try await eventually { try await browser.url() == request }
            try await press("Inspect its token", browser, for: "The request that it came with")
        case .personDisabled:
            try await openPerson(system, browser)
            try await press("Disable", browser, for: "The person is disabled.")
        case .appleToken: try await inspect(try await Self.appleToken(system), system, browser, for: "Yes")
        case .forgedToken:
            let token = try await Self.appleToken(system)
            let changed = token.dropLast(8) + "AAAAAAAA"
            try await inspect(String(changed), system, browser, for: "signature_invalid")
        case .issuedToken:
            let links = try await system.googleControl.get("/control/links")["links"]?.array ?? []
            let token = try #require(links.last?["access_token"]?.string)
            try await inspect(token, system, browser, for: "token family")
        case .unknownToken: try await inspect("no token", system, browser, for: "no token, code or object")
        case .requestReplayed:
            try await browser.open("\(system.service)/console/requests")
            try await browser.click("main tbody a")
            try await press("Send again", browser, for: "Sent again.")
        case .settingsChecked:
            try await browser.open("\(system.service)/console/settings")
            try await press("Check again", browser, for: "The checks run")
        case .erasureNotConfirmed:
            try await openErasure(system, browser)
            _ = try await browser.evaluate("document.querySelector('[name=confirm]').required = false")
            try await press("Erase", browser, for: "Confirm the erasure")
        case .formOfAnotherSession:
            try await browser.open("\(system.service)/console/tokens")
            try await browser.type("x", into: "#token")
            _ = try await browser.evaluate(
                "document.querySelectorAll('[name=csrf]').forEach(e => e.value = 'x')")
            try await press("Inspect", browser, for: "The form is of another session")
        case .personErased:
            try await openErasure(system, browser)
            try await browser.click("[name=confirm]")
            try await press("Erase", browser, for: "The person is erased.")
        }
    }

    private func search(
        _ text: String, _ button: String, in system: DevelopmentProcess, _ browser: Browser, for words: String
    ) async throws {
        try await browser.open("\(system.service)/console/people")
        try await browser.type(text, into: "#q")
        try await press(button, browser, for: words)
    }

    private func press(_ button: String, _ browser: Browser, for words: String) async throws {
        try await browser.press(button)
        try await browser.wait(for: words)
    }

    private func openPerson(_ system: DevelopmentProcess, _ browser: Browser) async throws {
        try await browser.open("\(system.service)/console/people")
        try await browser.click("main tbody a")
        try await browser.wait(for: "OAuth grants")
    }

    private func openErasure(_ system: DevelopmentProcess, _ browser: Browser) async throws {
        try await openPerson(system, browser)
        try await browser.press("Erase this person…")
        try await browser.wait(for: "This cannot be undone")
    }

    private func inspect(
        _ token: String, _ system: DevelopmentProcess, _ browser: Browser, for words: String
    ) async throws {
        try await browser.open("\(system.service)/console/tokens")
        // Typing each character of a token takes seconds.
        _ = try await browser.evaluate("document.querySelector('#token').value = '\(token)'")
        try await press("Inspect", browser, for: words)
    }

    private static func appleToken(_ system: DevelopmentProcess) async throws -> String {
        let answer = try await system.appleControl.post("/emulator/identity-tokens?format=sign-in")
        return try #require(answer["identity_token"]?.string)
    }
}
