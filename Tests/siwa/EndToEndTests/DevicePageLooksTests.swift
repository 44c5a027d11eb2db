import AsyncHTTPClient
import AuthorizationServer
import NIOCore
import NIOHTTP1
import StrictJSON
import TestSupport
import Testing

@testable import siwa

/// The page for the users of devices, in Chromium, with the fake Apple: a user enters the code of a device.
@Suite(.serialized) struct DevicePageLooksTests {
    @Test func `a user enters a code with the keyboard, signs in, and connects the device`() async throws {
        try await TemporaryDirectory.with { directory in
            try await DevelopmentProcess.with(in: directory) { system in
                try await Browser.with(in: directory) { browser in
                    for language in PageLanguage.allCases {
                        try await Self.connect(at: system, browser, language)
                    }
                    #expect(try await browser.refusals() == [])
                }
            }
        }
    }

    @Test func `siwa login with --device signs in by a browser elsewhere, refreshes, and signs out`()
        async throws
    {
        try await TemporaryDirectory.with { directory in
            try await DevelopmentProcess.with(in: directory) { system in
                try await Browser.with(in: directory) { browser in
                    let login = try DesktopLogin(in: directory)
                    let line =
                        "siwa login --issuer \(system.service) --client-id \(DevelopmentClients.native) --scope openid"
                    let first = try await login.run("\(line) --device", isDevice: true) { url in
                        try await browser.open(url)
                        for label in ["Jane Appleseed", "Continue", "Allow"] {
                            try await browser.press(label)
                        }
                        try await eventually { try await browser.shows("Your device is connected") }
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
        }
    }

    private static func connect(
        at system: DevelopmentProcess, _ browser: Browser, _ language: PageLanguage
    ) async throws {
        let locale = "ui_locales=\(language.rawValue)"
        let device = try await begin(at: system)
        try await browser.open("\(system.service)/oauth/device?\(locale)")
        try await look(at: browser, "\(language): the code")
        try await browser.type("bcdf ghjk", into: "input[name=user_code]")
        try await browser.click("button.main")
        // No device waits with this code.
        try await eventually {
            try await browser.evaluate("return document.querySelector('.notice') != null").bool ?? false
        }
        try await look(at: browser, "\(language): a wrong code")
        try await browser.type(device.userCode.lowercased(), into: "input[name=user_code]")
        try await browser.click("button.main")
        if language == PageLanguage.allCases.first {
            for label in ["Jane Appleseed", "Continue"] { try await browser.press(label) }
        }
        try await eventually {
            try await browser.evaluate("return document.querySelector('.device-code') != null").bool ?? false
        }
        #expect(try await browser.text().contains(device.userCode))
        let page = try await browser.evaluate("return [document.documentElement.dir, document.forms.length]")
        #expect(page.array == [.string(language.direction), .integer(1)])
        try await look(at: browser, "\(language): the consent")
        try await browser.click("button[value=agree]")
        try await eventually {
            try await browser.evaluate("return document.querySelector('[role=status]') != null").bool ?? false
        }
        try await look(at: browser, "\(language): the end")
        let tokens = try await post(
            "\(system.service)/oauth/token",
            "client_id=\(DevelopmentClients.native)&device_code=\(device.code)"
                + "&grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Adevice_code")
        #expect(tokens["access_token"]?.string != nil)
    }

    private static func begin(at system: DevelopmentProcess) async throws -> (code: String, userCode: String)
    {
        let answer = try await post(
            "\(system.service)/oauth/device_authorization", "client_id=\(DevelopmentClients.native)")
        return (
            try #require(answer["device_code"]?.string), try #require(answer["user_code"]?.string)
        )
    }

    private static func post(_ url: String, _ form: String) async throws -> JSONValue {
        var request = HTTPClientRequest(url: url)
        request.method = .POST
        request.headers.add(name: "Content-Type", value: "application/x-www-form-urlencoded")
        request.headers.add(name: "User-Agent", value: "ExampleTV/1.0 (Living room)")
        request.body = .bytes(ByteBuffer(string: form))
        let response = try await HTTPClient.shared.execute(request, timeout: .seconds(60))
        let body = try await response.body.collect(upTo: 1 << 20)
        return try JSONValue(parsing: Array(body.readableBytesView))
    }

    private static func look(at browser: Browser, _ page: String) async throws {
        for view in [(320, false), (375, true), (1280, false)] as [(width: Int64, isDark: Bool)] {
            try await browser.show(width: view.width, isDark: view.isDark)
            #expect(try await browser.lookFaults() == [], "\(page) at \(view)")
        }
    }
}
