import AuthorizationServer
import Encodings
import StrictJSON
import TestSupport
import Testing

@testable import siwa

/// The user's page about connected clients, in Chromium, with the fake Apple and the fake Google.
@Suite(.serialized) struct ConnectionsPageTests {
    private static let path = "/account/connections"

    @Test func `a user links Google, sees it, and removes it with the keyboard; Google is told`() async throws
    {
        try await TemporaryDirectory.with { directory in
            try await DevelopmentProcess.with(in: directory) { system in
                try await Browser.with(in: directory) { browser in
                    try await Self.agree(at: system, browser)
                    try await browser.open(system.service + Self.path)
                    #expect(try await browser.shows("Remove access"))
                    for language in PageLanguage.allCases {
                        try await browser.open(
                            "\(system.service)\(Self.path)?ui_locales=\(language.rawValue)")
                        try await Self.look(at: browser, "\(language)")
                        let page = try await browser.evaluate(
                            "return [document.documentElement.dir, document.forms.length]")
                        #expect(page.array == [.string(language.direction), .integer(2)])
                    }
                    try await browser.open(system.service + Self.path)
                    #expect(try await browser.shows("Control your devices"))
                    #expect(try await browser.tab() == "Remove access")
                    let outline = try await browser.evaluate(
                        "return getComputedStyle(document.activeElement).outlineStyle")
                    #expect(outline.string == "solid")
                    try await browser.press(key: "\u{E007}")
                    try await eventually { try await browser.shows("The access was removed.") }
                    try await Self.look(at: browser, "after a removal")
                    #expect(try await browser.evaluate("return document.forms.length").integer == 1)
                    try await browser.press("Remove access")
                    try await eventually { try await browser.shows("No app or service has access") }
                    try await Self.look(at: browser, "nothing left")
                    // The report to the fake Google about the refresh token that ended.
                    try await eventually {
                        try await browser.open(system.google)
                        return try await browser.evaluate(
                            "return document.querySelector('#events table') != null"
                        )
                        .bool ?? false
                    }
                    #expect(try await browser.refusals() == [])
                }
            }
        }
    }

    /// Agrees to a link with Google, and to a web client.
    private static func agree(at system: DevelopmentProcess, _ browser: Browser) async throws {
        try await browser.open(system.google)
        for label in ["Link in the browser", "Continue", "Jane Appleseed", "Continue", "Agree and link"] {
            try await browser.press(label)
        }
        try await eventually { try await browser.shows("Link 1 in the browser: linked") }
        let query = FormEncoding.encode(
            [
                ("client_id", DevelopmentClients.web), ("redirect_uri", "\(system.apple)/site"),
                ("scope", "openid profile"), ("response_type", "code"), ("state", "s"),
                ("code_challenge", "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"),
                ("code_challenge_method", "S256"),
            ].map { (name: $0.0, value: $0.1) })
        try await browser.open("\(system.service)/oauth/authorize?\(query)")
        try await browser.press("Allow")
        try await eventually { try await browser.url().hasPrefix("\(system.apple)/site") }
    }

    private static func look(at browser: Browser, _ page: String) async throws {
        for view in [(320, false), (375, true), (1280, false)] as [(width: Int64, isDark: Bool)] {
            try await browser.show(width: view.width, isDark: view.isDark)
            #expect(try await browser.lookFaults() == [], "\(page) at \(view)")
        }
    }
}
