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
        try await DevelopmentProcess.browsed { system, browser in
            try await Self.agree(at: system, browser)
            try await browser.open(system.service + Self.path)
            #expect(try await browser.shows("Remove access"))
            for language in PageLanguage.allCases {
                try await browser.open("\(system.service)\(Self.path)?ui_locales=\(language.rawValue)")
                try await browser.expectLooks("\(language)")
                let page = try await browser.evaluate(
                    "return [document.documentElement.dir, document.forms.length]")
                #expect(page.array == [.string(language.direction), .integer(2)])
            }
            try await browser.open(system.service + Self.path)
            #expect(try await browser.shows("Control your devices"))
            #expect(try await browser.tab() == "Remove access")
            try await browser.expectFocusMark()
            try await browser.press(key: "\u{E007}")
            try await browser.wait(for: "The access was removed.")
            try await browser.expectLooks("after a removal")
            #expect(try await browser.evaluate("return document.forms.length").integer == 1)
            try await browser.press("Remove access")
            try await browser.wait(for: "No app or service has access")
            try await browser.expectLooks("nothing left")
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

    /// Agrees to a link with Google, and to a web client.
    private static func agree(at system: DevelopmentProcess, _ browser: Browser) async throws {
        try await browser.open(system.google)
        try await browser.press(each: [
            "Link in the browser", "Continue", "Jane Appleseed", "Continue", "Agree and link",
        ])
        try await browser.wait(for: "Link 1 in the browser: linked")
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

}

/// The pages on which a user signs out, in Chromium.
@Suite(.serialized) struct LogoutPageTests {
    private static let path = "/oauth/logout"

    @Test func `a user is asked, stays, signs out by the keyboard, and is back at the client`() async throws {
        try await DevelopmentProcess.browsed { system, browser in
            try await Self.signIn(at: system, browser)
            let query = Self.query([
                ("client_id", DevelopmentClients.web), ("state", "bye"),
                ("post_logout_redirect_uri", "\(system.apple)/site"),
            ])
            for language in PageLanguage.allCases {
                for start in ["", "\(query)&"] {
                    try await browser.open(
                        "\(system.service)\(Self.path)?\(start)ui_locales=\(language.rawValue)")
                    try await browser.expectLooks("\(language) \(start)")
                    let page = try await browser.evaluate(
                        "return [document.documentElement.dir, document.forms.length]")
                    #expect(page.array == [.string(language.direction), .integer(1)])
                }
            }
            try await browser.open("\(system.service)\(Self.path)?\(query)")
            #expect(try await browser.shows("Example on the web asks to sign you out"))
            try await browser.press("Stay signed in")
            try await browser.wait(for: "You are still signed in")
            try await browser.expectLooks("stays")
            try await browser.open("\(system.service)\(Self.path)?\(query)")
            #expect(try await browser.tab() == "Stay signed in")
            #expect(try await browser.tab() == "Sign out")
            try await browser.press(key: "\u{E007}")
            try await eventually { try await browser.url() == "\(system.apple)/site?state=bye" }
            // Without a session there is nothing to ask.
            try await browser.open("\(system.service)\(Self.path)")
            #expect(try await browser.shows("You are signed out"))
            try await browser.expectLooks("signed out")
            let other = Self.query([
                ("client_id", DevelopmentClients.web), ("post_logout_redirect_uri", "\(system.apple)/other"),
            ])
            try await browser.open("\(system.service)\(Self.path)?\(other)")
            #expect(try await browser.shows("Development: the browser does not return"))
            try await browser.expectLooks("another URI")
            #expect(try await browser.refusals() == [])
        }
    }

    /// Chromium sends no cookie with the form of another site (SameSite=Lax), and obeyed the answer's deletion.
    @Test func `a page of another site signs nobody out, whatever its form says`() async throws {
        try await DevelopmentProcess.browsed { system, browser in
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
            try await browser.wait(for: "You are signed out")
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
        try await browser.press(each: ["Jane Appleseed", "Continue"])
        try await browser.wait(for: "Example on the web")
    }

}
