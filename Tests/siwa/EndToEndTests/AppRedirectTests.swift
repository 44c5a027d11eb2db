import AppleEmulator
import Foundation
import HTTPTypes
import Hummingbird
import ScriptedHTTP
import Synchronization
import TestSupport
import Testing

/// Android apps sign in on a web page, and their callback passes the result to the app with a redirect to
/// `intent:` or its own scheme. Chromium applies the policy of the page with the form to this redirect.
@Suite(.serialized) struct AppRedirectTests {
    @Test(
        arguments: [
            "intent:#Intent;scheme=shop;package=com.example.shop;end", "com.example.shop://signed-in",
        ],
        ["form_post", "query", "fragment"])
    func `the browser follows a callback to an app`(target: String, mode: String) async throws {
        try await WholeSystem.withApple { apple, directory in
            try await RedirectingSite.run(redirectingTo: target) { site in
                try apple.state.setRedirectURIs([site.callback], of: "com.example.web")
                try await Browser.with { browser in
                    try await browser.open(
                        "http://127.0.0.1:\(try await apple.port())/auth/authorize?client_id=com.example.web"
                            + "&redirect_uri=\(site.callback)&response_type=code&response_mode=\(mode)")
                    try await browser.click("button[name=choose]")
                    try await browser.click("button[name=allow]")
                    try await eventually { !site.called.isEmpty }
                    #expect(site.called == [mode == "form_post" ? .post : .get])
                    // No program on this machine handles the scheme. The test checks that the browser tried.
                    let scheme = "\(target.prefix { $0 != ":" }):"
                    try await eventually { try await browser.departures().contains { $0.hasPrefix(scheme) } }
                    #expect(try await browser.messages() == [])
                }
            }
        }
    }
}

/// A site whose callback redirects the browser, for example to an app.
final class RedirectingSite: Sendable {
    let callback: String
    private let target: String
    private let calls = Mutex<[HTTPRequest.Method]>([])

    /// The methods of the requests for the callback.
    var called: [HTTPRequest.Method] { calls.withLock { $0 } }

    private init(port: Int, target: String) {
        (callback, self.target) = ("http://127.0.0.1:\(port)/callback", target)
    }

    /// - Parameter target: Target of the callback's 303.
    static func run(
        redirectingTo target: String, _ body: @Sendable (RedirectingSite) async throws -> Void
    ) async throws {
        try await LoopbackServer.run(
            make: { RedirectingSite(port: $0, target: target) }, respond: { $0.respond(to: $1) }, body)
    }

    private func respond(to request: Request) -> Response {
        guard request.uri.path == "/callback" else { return Response(status: .notFound) }
        calls.withLock { $0.append(request.method) }
        return Response(status: .seeOther, headers: [.location: target])
    }
}
