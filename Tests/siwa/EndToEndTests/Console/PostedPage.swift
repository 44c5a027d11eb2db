import Foundation
import StrictJSON
import TestSupport
import Testing

@testable import siwa

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
            try await search("nobody@example.com", "Search", in: system, browser, for: "Nobody was found")
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
            try await eventually { try await browser.shows("Requests with a token of this person") }
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
            let google = Backend(port: system.googlePort, secret: "")
            let links = try await google.get("/control/links")["links"]?.array ?? []
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
        try await eventually { try await browser.shows(words) }
    }

    private func openPerson(_ system: DevelopmentProcess, _ browser: Browser) async throws {
        try await browser.open("\(system.service)/console/people")
        try await browser.click("main tbody a")
        try await eventually { try await browser.shows("OAuth grants") }
    }

    private func openErasure(_ system: DevelopmentProcess, _ browser: Browser) async throws {
        try await openPerson(system, browser)
        try await browser.press("Erase this person…")
        try await eventually { try await browser.shows("This cannot be undone") }
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
        let apple = Backend(port: system.applePort, secret: "")
        let answer = try await apple.post("/emulator/identity-tokens?format=sign-in")
        return try #require(answer["identity_token"]?.string)
    }
}
