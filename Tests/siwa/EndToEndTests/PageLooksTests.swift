import AuthorizationServer
import Encodings
import Foundation
import NIOHTTP1
import StrictJSON
import TestSupport
import Testing

@testable import siwa_dev

/// The pages of OAuth and of the fake Google, as Chromium lays them out: at the width of phones and desktops,
/// in every language, in light and dark, and with the keyboard alone.
@Suite(.serialized) struct PageLooksTests {
    private static let webView =
        "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148"

    @Test func `pages fit, have contrast, follow the language's direction, and are used by keyboard`()
        async throws
    {
        try await Self.with { system, browser in
            try await Self.signIn(at: system, browser)
            for language in PageLanguage.allCases {
                for query in Self.queries(system, language) {
                    try await browser.open("\(system.service)/oauth/authorize?\(query)")
                    try await browser.expectLooks("\(language) \(query)")
                    let direction = try await browser.evaluate(
                        "return getComputedStyle(document.body).direction")
                    #expect(direction.string == language.direction)
                }
            }
            try await browser.open("\(system.service)/oauth/authorize?\(Self.queries(system, .english)[0])")
            try await Self.walk(browser)
            // The check sees what is wrong: the page scrolls, the heading is outside, and neither its own words
            // nor the app's name in it have contrast.
            _ = try await browser.evaluate(
                "document.querySelector('h1').style.cssText = 'width: 2000px; color: #777'")
            #expect(try await browser.lookFaults().count == 4)
            // Markup of the request is text.
            let markup = Self.query([("client_id", "<img src=x onerror=alert(1)>"), ("redirect_uri", "x:y")])
            try await browser.open("\(system.service)/oauth/authorize?\(markup)")
            #expect(try await browser.evaluate("return document.images.length").integer == 0)
            try await browser.pretendToBe(Self.webView)
            for language in PageLanguage.allCases {
                try await browser.open(
                    "\(system.service)/oauth/authorize?\(Self.queries(system, language)[0])")
                #expect(try await browser.shows("disallowed_useragent"))
                try await browser.expectLooks("\(language) web view")
            }
            #expect(try await browser.refusals() == [])
        }
    }

    @Test
    func
        `the buttons of a long page are in sight, Enter in a checkbox agrees to nothing, and notes stay small`()
        async throws
    {
        try await Self.with { system, browser in
            try await Self.signIn(at: system, browser)
            let page = "\(system.service)/oauth/authorize?\(Self.queries(system, .polish)[1])"
            try await browser.open(page)
            let scopes = try await browser.evaluate(
                """
                let list = document.querySelector('.scopes');
                while (list.children.length < 6) list.append(list.lastElementChild.cloneNode(true));
                return list.children.length
                """)
            #expect(scopes.integer == 6)
            // A laptop of 1366 by 768 points without the bars of the system and the browser.
            for (width, height) in [(1366, 600), (375, 667)] as [(Int64, Int64)] {
                try await browser.show(width: width, height: height)
                let below = try await browser.evaluate(
                    """
                    return [...document.querySelectorAll('.buttons button')]
                        .filter(e => e.getBoundingClientRect().bottom > innerHeight).length
                    """)
                #expect(below.integer == 0, "\(width) by \(height)")
            }
            // A user who doubles the size of text: notes grow as all text does, and nothing is outside.
            _ = try await browser.evaluate("document.documentElement.style.fontSize = '32px'")
            try await browser.expectLooks("large type")
            let ratio = try await browser.evaluate(
                """
                let size = e => parseFloat(getComputedStyle(e).fontSize);
                return Math.round(100 * size(document.querySelector('.note')) / size(document.body))
                """)
            #expect((80...100).contains(ratio.integer ?? 0))
            try await browser.open(page)
            _ = try await browser.evaluate("document.querySelector('input[type=checkbox]').focus()")
            try await browser.press(key: "\u{E007}")
            #expect(try await browser.url() == page)
            #expect(try await browser.evaluate("return document.forms.length").integer == 1)
        }
    }

    @Test func `the pages of the control APIs fit, have contrast, and are used by keyboard`() async throws {
        try await Self.with { system, browser in
            for page in [
                "\(system.apple)/emulator/api", "\(system.google)/control/api",
                "\(system.receiver)/control/api",
            ] {
                try await browser.open(page)
                // The calls are also found by the search of the browser, which unfolds them.
                _ = try await browser.evaluate(
                    "document.querySelectorAll('details').forEach(e => e.open = true)")
                try await browser.expectLooks(page)
                #expect(try await browser.axeViolations() == [])
                _ = try await browser.evaluate("document.querySelector('summary').focus()")
                try await browser.expectFocusMark(page)
            }
            #expect(try await browser.refusals() == [])
        }
    }

    @Test func `the page of a disabled account fits in every language, and its button leads to the client`()
        async throws
    {
        try await Self.with { system, browser in
            let backend = system.backend
            for language in PageLanguage.allCases {
                // The page ends the session, so each language has a user of its own.
                try await Self.signIn(at: system, browser)
                let events = try await backend.get("/v1/events?limit=1000")["events"]?.array ?? []
                let id = try #require(events.last?["account_id"]?.string)
                let disabled = try await backend.post("/v1/accounts/\(id)/disable", [("reason", "abuse")])
                #expect(disabled.status == 200)
                try await browser.open(
                    "\(system.service)/oauth/authorize?\(Self.queries(system, language)[1])")
                #expect(try await browser.shows("account_disabled"))
                let direction = try await browser.evaluate("return getComputedStyle(document.body).direction")
                #expect(direction.string == language.direction)
                try await browser.expectLooks("\(language) disabled account")
            }
            _ = try await browser.tab()
            try await browser.expectFocusMark()
            #expect(try await browser.refusals() == [])
            _ = try await browser.departures()
            try await browser.press(key: "\u{E007}")
            try await eventually {
                try await browser.departures().contains {
                    $0.hasPrefix("http://127.0.0.1:9004") && $0.contains("error=access_denied")
                }
            }
        }
    }

    @Test func `the fake Google's pages fit and have contrast, with links, events and exchanges`()
        async throws
    {
        try await Self.with { system, browser in
            try await browser.open(system.google)
            try await browser.press("Link with your iPhone app (App Flip)")
            try await browser.expectLooks("what Google opens")
            try await browser.press("Continue")
            try await browser.expectLooks("the app asks")
            try await browser.press("Agree and link")
            try await browser.expectLooks("the app goes back")
            try await browser.press("Open the Google app")
            for press in ["Refresh", "Call the app's API", "check", "Send"] {
                try await browser.press(press)
                try await browser.expectLooks(press)
            }
            _ = try await browser.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")
            try await browser.expectLooks("every exchange open")
            #expect(try await browser.refusals() == [])
        }
    }

    private static func with(
        _ body: @Sendable (DevelopmentProcess, Browser) async throws -> Void
    ) async throws {
        try await DevelopmentProcess.with { system in
            try await Browser.with { try await body(system, $0) }
        }
    }

    /// Signs in as a user with a hidden address, because the relay address is the longest word of the page.
    private static func signIn(at system: DevelopmentProcess, _ browser: Browser) async throws {
        try await browser.open("\(system.service)/oauth/authorize?\(queries(system, .english)[0])")
        try await browser.click("summary")
        try await browser.type("Zażółć", into: "#first")
        try await browser.type("Gęślą-Jaźńska", into: "#last")
        try await browser.click("button[name=create]")
        try await browser.click("input[value=hide]")
        try await browser.click("button[name=allow]")
        try await browser.wait(for: "privaterelay.appleid.com")
    }

    /// Checks that the keyboard reaches every control in reading order, and that the focused control is
    /// marked.
    private static func walk(_ browser: Browser) async throws {
        var reached: [String] = []
        while reached.count < 12, reached.last != "Agree and link" {
            reached.append(try await browser.tab())
            try await browser.expectFocusMark("\(reached)")
        }
        #expect(
            reached == [
                "Use another account", "scope:\(DevelopmentClients.ownScope)", "Google’s Privacy Policy",
                "Third-party apps & services", "See what has access to your account", "Cancel",
                "Agree and link",
            ])
    }

    /// The consent page of each kind of client, and the pages of errors.
    private static func queries(_ system: DevelopmentProcess, _ language: PageLanguage) -> [String] {
        let long = String(repeating: "long", count: 60)
        let proof = [
            ("user_locale", language.rawValue), ("response_type", "code"), ("state", "s"),
            ("prompt", "consent"), ("code_challenge", "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"),
            ("code_challenge_method", "S256"),
        ]
        return [
            [("client_id", DevelopmentClients.google), ("redirect_uri", "\(system.google)/r/siwa-dev")],
            [
                ("client_id", DevelopmentClients.native), ("redirect_uri", "http://127.0.0.1:9004"),
                ("login_hint", "\(long)@example.com"),
            ],
            [
                ("client_id", DevelopmentClients.web), ("redirect_uri", "\(system.apple)/site"),
                ("scope", "openid profile"),
            ], [("client_id", long), ("redirect_uri", "https://shop.example.com/cb")],
            [("client_id", DevelopmentClients.google), ("redirect_uri", "https://shop.example.com/\(long)")],
            [("client_id", DevelopmentClients.google)],
        ].map { query($0 + proof) }
    }

    private static func query(_ fields: [(String, String)]) -> String {
        FormEncoding.encode(fields.map { (name: $0.0, value: $0.1) })
    }
}

/// The page for the users of devices, in Chromium, with the fake Apple: a user enters the code of a device.
@Suite(.serialized) struct DevicePageLooksTests {
    @Test func `a user enters a code with the keyboard, signs in, and connects the device`() async throws {
        try await DevelopmentProcess.browsed { system, browser in
            for language in PageLanguage.allCases { try await Self.connect(at: system, browser, language) }
            #expect(try await browser.refusals() == [])
        }
    }

    @Test func `siwa login with --device signs in by a browser elsewhere, refreshes, and signs out`()
        async throws
    {
        try await DevelopmentProcess.browsed { system, browser in
            let login = try DesktopLogin(in: system.directory)
            let line =
                "siwa login --issuer \(system.service) --client-id \(DevelopmentClients.native) --scope openid"
            let first = try await login.run("\(line) --device", isDevice: true) { url in
                try await browser.open(url)
                try await browser.press(each: ["Jane Appleseed", "Continue", "Allow"])
                try await browser.wait(for: "Your device is connected")
            }
            #expect(first.status == 0, "\(first.printed)")
            for words in ["Enter this code there", "The ID token is right", "Signed in."] {
                #expect(first.printed.contains(words), "\(words)")
            }
            for secret in ["siwa_rt_", "siwa_dc_", "eyJ"] { #expect(!first.printed.contains(secret)) }
            let kept = try login.kept(in: first.printed)
            let again = try await login.run("\(line) --device")
            #expect(again.status == 0 && again.printed.contains("Refreshed the kept tokens"))
            #expect(try login.kept(in: again.printed) != kept)
            let last = try await login.run("\(line) --logout")
            #expect(last.status == 0, "\(last.printed)")
        }
    }

    private static func connect(
        at system: DevelopmentProcess, _ browser: Browser, _ language: PageLanguage
    ) async throws {
        let locale = "ui_locales=\(language.rawValue)"
        let device = try await begin(at: system)
        try await browser.open("\(system.service)/oauth/device?\(locale)")
        try await browser.expectLooks("\(language): the code")
        try await browser.type("bcdf ghjk", into: "input[name=user_code]")
        try await browser.click("button.main")
        // No device waits with this code.
        try await eventually {
            try await browser.evaluate("return document.querySelector('.notice') != null").bool ?? false
        }
        try await browser.expectLooks("\(language): a wrong code")
        try await browser.type(device.userCode.lowercased(), into: "input[name=user_code]")
        try await browser.click("button.main")
        if language == PageLanguage.allCases.first {
            try await browser.press(each: ["Jane Appleseed", "Continue"])
        }
        try await eventually {
            try await browser.evaluate("return document.querySelector('.device-code') != null").bool ?? false
        }
        #expect(try await browser.text().contains(device.userCode))
        let page = try await browser.evaluate("return [document.documentElement.dir, document.forms.length]")
        #expect(page.array == [.string(language.direction), .integer(1)])
        try await browser.expectLooks("\(language): the consent")
        try await browser.click("button[value=agree]")
        try await eventually {
            try await browser.evaluate("return document.querySelector('[role=status]') != null").bool ?? false
        }
        try await browser.expectLooks("\(language): the end")
        let tokens = try await post(
            "\(system.service)/oauth/token",
            [
                ("client_id", DevelopmentClients.native), ("device_code", device.code),
                ("grant_type", "urn:ietf:params:oauth:grant-type:device_code"),
            ])
        #expect(tokens["access_token"]?.string != nil)
    }

    private static func begin(at system: DevelopmentProcess) async throws -> (code: String, userCode: String)
    {
        let answer = try await post(
            "\(system.service)/oauth/device_authorization", [("client_id", DevelopmentClients.native)])
        return (try #require(answer["device_code"]?.string), try #require(answer["user_code"]?.string))
    }

    private static func post(_ url: String, _ form: TestClient.Fields) async throws -> JSONValue {
        let answer = try await TestClient.send(
            .POST, url, headers: [("User-Agent", "ExampleTV/1.0 (Living room)")], form: form)
        return try #require(answer.json)
    }
}
