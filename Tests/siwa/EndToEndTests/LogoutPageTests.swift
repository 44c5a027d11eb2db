import AuthorizationServer
import Encodings
import HTTPTypes
import Hummingbird
import NIOCore
import ScriptedHTTP
import StrictJSON
import TestSupport
import Testing

@testable import Composition
@testable import siwa_dev

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

/// The pages on which a user signs out, in Chromium.
@Suite(.serialized) struct LogoutPageTests {
    private static let path = "/oauth/logout"

    @Test func `a user is asked, stays, signs out by the keyboard, and is back at the client`() async throws {
        try await TemporaryDirectory.with { directory in
            try await DevelopmentProcess.with(in: directory) { system in
                try await Browser.with(in: directory) { browser in
                    try await Self.signIn(at: system, browser)
                    let query = Self.query([
                        ("client_id", DevelopmentClients.web), ("state", "bye"),
                        ("post_logout_redirect_uri", "\(system.apple)/site"),
                    ])
                    for language in PageLanguage.allCases {
                        for start in ["", "\(query)&"] {
                            try await browser.open(
                                "\(system.service)\(Self.path)?\(start)ui_locales=\(language.rawValue)")
                            try await Self.look(at: browser, "\(language) \(start)")
                            let page = try await browser.evaluate(
                                "return [document.documentElement.dir, document.forms.length]")
                            #expect(page.array == [.string(language.direction), .integer(1)])
                        }
                    }
                    try await browser.open("\(system.service)\(Self.path)?\(query)")
                    #expect(try await browser.shows("Example on the web asks to sign you out"))
                    try await browser.press("Stay signed in")
                    try await eventually { try await browser.shows("You are still signed in") }
                    try await Self.look(at: browser, "stays")
                    try await browser.open("\(system.service)\(Self.path)?\(query)")
                    #expect(try await browser.tab() == "Stay signed in")
                    #expect(try await browser.tab() == "Sign out")
                    try await browser.press(key: "\u{E007}")
                    try await eventually { try await browser.url() == "\(system.apple)/site?state=bye" }
                    // Without a session there is nothing to ask.
                    try await browser.open("\(system.service)\(Self.path)")
                    #expect(try await browser.shows("You are signed out"))
                    try await Self.look(at: browser, "signed out")
                    let other = Self.query([
                        ("client_id", DevelopmentClients.web),
                        ("post_logout_redirect_uri", "\(system.apple)/other"),
                    ])
                    try await browser.open("\(system.service)\(Self.path)?\(other)")
                    #expect(try await browser.shows("Development: the browser does not return"))
                    try await Self.look(at: browser, "another URI")
                    #expect(try await browser.refusals() == [])
                }
            }
        }
    }

    /// Chromium sends no cookie with the form of another site (SameSite=Lax), and obeyed the answer's deletion.
    @Test func `a page of another site signs nobody out, whatever its form says`() async throws {
        try await TemporaryDirectory.with { directory in
            try await DevelopmentProcess.with(in: directory) { system in
                try await Browser.with(in: directory) { browser in
                    try await Self.signIn(at: system, browser)
                    let target = "\(system.service)\(Self.path)"
                    try await LoopbackServer.run(
                        make: { $0 },
                        respond: { _, request in
                            // A page with one form, whose decision is in the path.
                            let fields = ["decision", "csrf_token"].map {
                                "<input type=hidden name=\($0) value=\(request.uri.path.dropFirst())>"
                            }
                            let page =
                                "<!DOCTYPE html><form method=post action=\"\(target)\">\(fields[0])"
                                + "\(request.uri.query == "token" ? fields[1] : "")<button>Win</button></form>"
                            return Response(
                                status: .ok, headers: [.contentType: "text/html"],
                                body: ResponseBody(byteBuffer: ByteBuffer(string: page)))
                        }
                    ) { port in
                        // Another name of this machine is another site.
                        let other = system.service.contains("localhost") ? "127.0.0.1" : "localhost"
                        for form in ["sign_out", "sign_out?token", "stay?token", "agree", "cancel"] {
                            try await browser.open("http://\(other):\(port)/\(form)")
                            try await browser.press("Win")
                            try await eventually { try await browser.url().hasPrefix(target) }
                            #expect(try await browser.shows("form_refused"), "\(form)")
                            try await browser.open(target)
                            #expect(try await browser.shows("Sign out?"), "\(form)")
                        }
                    }
                    // The page's own form counts.
                    try await browser.press("Sign out")
                    try await eventually { try await browser.shows("You are signed out") }
                }
            }
        }
    }

    private static func query(_ parameters: [(String, String)]) -> String {
        FormEncoding.encode(parameters.map { (name: $0.0, value: $0.1) })
    }

    private static func signIn(at system: DevelopmentProcess, _ browser: Browser) async throws {
        let query = query([
            ("client_id", DevelopmentClients.web), ("redirect_uri", "\(system.apple)/site"),
            ("scope", "openid profile"), ("response_type", "code"), ("state", "s"),
            ("code_challenge", "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"),
            ("code_challenge_method", "S256"),
        ])
        try await browser.open("\(system.service)/oauth/authorize?\(query)")
        for label in ["Jane Appleseed", "Continue"] { try await browser.press(label) }
        try await eventually { try await browser.shows("Example on the web") }
    }

    private static func look(at browser: Browser, _ page: String) async throws {
        for view in [(320, false), (375, true), (1280, false)] as [(width: Int64, isDark: Bool)] {
            try await browser.show(width: view.width, isDark: view.isDark)
            #expect(try await browser.lookFaults() == [], "\(page) at \(view)")
        }
    }
}
