import AppleAccounts
import StorageConformance
import Testing

@testable import SignIn

@Suite struct WebSettingsTests {
    static let authorizeURL = "https://appleid.apple.com/auth/authorize"

    private func settings(
        _ publicURL: String = "https://siwa.example",
        _ redirectURLs: [ClientID: String] = ["com.example.web": "https://app.example/apple"],
        _ authorizeURL: String = Self.authorizeURL, plain: Bool = false
    ) throws(WebSettingsError) -> WebSignIn.Settings {
        try WebSignIn.Settings(
            publicURL: publicURL, redirectURLs: redirectURLs, authorizeURL: authorizeURL,
            allowsPlainHTTP: plain)
    }

    @Test(arguments: ["https://siwa.example", "https://siwa.example/"])
    func `the return URL stands under the public one`(publicURL: String) throws {
        #expect(try settings(publicURL).callbackURL == "https://siwa.example/v1/web/callback")
        #expect(
            try settings(publicURL + (publicURL.hasSuffix("/") ? "" : "/") + "auth/").callbackURL
                == "https://siwa.example/auth/v1/web/callback")
    }

    @Test func `a cookie is bound to its host wherever TLS is`() throws {
        #expect(try settings().cookieName == "__Host-siwa_web")
        #expect(try settings("http://localhost:8080", plain: true).cookieName == "siwa_web")
    }

    @Test(arguments: [
        "http://siwa.example", "https://siwa.example?x=1", "siwa.example", "", "https://u@siwa.example",
    ])
    func `a public URL that browsers must not use is refused`(publicURL: String) {
        #expect(throws: WebSettingsError(.publicURLMalformed, detail: "")) { try settings(publicURL) }
    }

    @Test func `every web client needs a page to come back to`() {
        #expect(throws: WebSettingsError(.redirectURLsMissing, detail: "")) {
            try settings("https://siwa.example", [:])
        }
        #expect(throws: WebSettingsError(.redirectURLMalformed, detail: "")) {
            try settings("https://siwa.example", ["com.example.web": "https://app.example/#here"])
        }
        #expect(throws: WebSettingsError(.authorizeURLMalformed, detail: "")) {
            try settings("https://siwa.example", ["com.example.web": "https://app.example"], "/authorize")
        }
    }

    @Test func `plain HTTP is for development only`() throws {
        let pages: [ClientID: String] = ["com.example.web": "http://app.example"]
        #expect(throws: WebSettingsError(.redirectURLMalformed, detail: "")) {
            try settings("https://siwa.example", pages)
        }
        #expect(throws: WebSettingsError(.authorizeURLMalformed, detail: "")) {
            try settings(
                "https://siwa.example", ["com.example.web": "https://a.example"], "http://emulator/a")
        }
        let local = try settings("http://siwa.example", pages, "http://emulator:9000/auth", plain: true)
        #expect(!local.isSecure)
    }

    @Test func `an error does not show addresses`() {
        let error = WebSettingsError(.publicURLMalformed, detail: "https://user:secret@host")
        #expect(!error.description.contains("secret"))
        #expect(error.debugDescription.contains("secret"))
    }
}
