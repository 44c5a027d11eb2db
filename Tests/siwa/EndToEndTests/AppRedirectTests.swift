import AppleEmulator
import Foundation
import HTTPTypes
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
                try await Browser.with(in: directory) { browser in
                    try await browser.open(
                        "http://127.0.0.1:\(try await apple.port())/auth/authorize?client_id=com.example.web"
                            + "&redirect_uri=\(site.callback)&response_type=code&response_mode=\(mode)")
                    try await browser.click("button[name=choose]")
                    try await browser.click("button[name=allow]")
                    try await eventually { !site.called.isEmpty }
                    #expect(site.called == [mode == "form_post" ? .post : .get])
                    // No program on this machine handles the scheme. The test checks that the browser tried.
                    let scheme = "\(target.prefix { $0 != ":" }):"
                    try await eventually {
                        try await browser.departures().contains { $0.hasPrefix(scheme) }
                    }
                    #expect(try await browser.messages() == [])
                }
            }
        }
    }
}
