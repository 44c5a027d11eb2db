import Foundation
import TestSupport
import Testing

@testable import Composition
@testable import siwa_dev

/// `docs/linking.md`, followed line by line in a browser, on `siwa dev`.
@Suite(.serialized) struct LinkingPageTests {
    /// Texts of the page after the press of a button. Each button is pressed once in its step.
    private static let shown: [(step: Int, press: String, words: [String])] = [
        (
            2, "Agree and link",
            ["Link 1 in the browser: linked", "refresh token siwa_rt_", "Google exchanges the code"]
        ),
        (3, "Refresh", ["Google refreshes the access token", "grant_type = refresh_token"]),
        (
            3, "Call the app's API",
            ["the app's API says the access token is active", "the app's account acc_"]
        ),
        (4, "Unlink", ["Link 1 in the browser: unlinked here"]),
        (4, "Call the app's API", ["the app's API says the access token is not active"]),
        (5, "Agree and link", ["\"outcome\": \"code\"", "The app opens this URL as it is"]),
        (5, "Open the Google app", ["Link 2 by App Flip: linked"]),
        (5, "Call the app's API", ["the app's API says the access token is active"]),
        (
            6, "Reload",
            ["Link 2 by App Flip: unlinked by the server", "token-revoked link 2", "hash_SHA512_double"]
        ),
        (7, "Agree and link", ["Link 3 in the browser: linked"]),
        // Before the next page is opened, which would end the request of this press.
        (7, "Stop using com.example.app", ["consent-revoked"]),
        (7, "Call the app's API", ["the app's API says the access token is not active", "Link 3"]),
        (8, "Agree and link", ["Link 4 in the browser: linked"]),
        (8, "check", ["\"account_found\": \"true\"", "\"email\": \"ada@gmail.com\""]),
        (8, "get", ["Link 5 by streamlined linking: linked", "Google asks with the intent get"]),
        (8, "create", ["linking_error"]), (9, "Send", ["Google sends the event sessions-revoked"]),
        (9, "Call the app's API", ["\"active\": false"]),
    ]

    @Test func `the lines of the page link, refresh and unlink on either side, and sign a desktop client in`()
        async throws
    {
        let section = try TryItSection()
        #expect(section.lines.first?.action == .paste("siwa dev\n"))
        for expected in Self.shown {
            let line = TryItSection.Line(step: expected.step, action: .press(expected.press))
            #expect(section.lines.filter { $0 == line }.count == 1, "\(line)")
        }
        try await DevelopmentProcess.browsed { system, browser in
            let login = try DesktopLogin(in: system.directory)
            for line in section.lines.dropFirst() {
                switch line.action {
                case .open(let url): try await browser.open(system.own(url))
                case .press(let label):
                    try await browser.press(label)
                    try await Self.check(line.step, label, browser)
                case .paste(let code) where code.hasPrefix("siwa login"):
                    try await Self.signIn(system.own(code), login, browser)
                case .paste(let code):
                    try await ProgramRun.named("sh", ["-ec", system.own(code)]).checked()
                }
            }
            #expect(try await browser.refusals() == [])
        }
    }

    /// The lines are those of `docs/fake-google.md`.
    @Test(.timeLimit(.hung), arguments: ExampleBackend.allCases)
    func `the lines of the page link by App Flip with the routes of a backend`(language: ExampleBackend)
        async throws
    {
        try await language.trial(of: "fake-google.md") { script, system in
            let printed = try await ExampleBackend.paste(system.own(script), in: system.directory)
            #expect(printed.last == "The trial is complete.", "\(printed)")
            let prompts = printed.filter { $0.contains("Ada Lovelace") }
            #expect(prompts.count == 1 && prompts.first?.contains("Agree and link") == true)
            let active = printed.compactMap { $0.firstMatch(of: /"active": ?(true|false)/)?.1 }
            #expect(active == ["true", "false"])
            let links = printed.filter { $0.hasPrefix("{\"links\":") }
            #expect(links.map { $0.contains("grt_") } == [true, false], "\(links)")
            #expect(printed.contains { $0.contains("error=invalid_request") })
        }
    }

    private static func check(_ step: Int, _ label: String, _ browser: Browser) async throws {
        guard let expected = shown.first(where: { $0.step == step && $0.press == label }) else { return }
        for words in expected.words {
            do {
                try await eventually {
                    if try await browser.shows(words) { return true }
                    // The event comes within ten seconds.
                    if label == "Reload" { try await browser.press(label) }
                    return false
                }
            } catch is NeverTrue {
                Issue.record("step \(step), \(label): no \(words) in \(try await browser.text())")
            }
        }
    }

    /// The three command lines: sign in, refresh, sign out.
    private static func signIn(_ code: String, _ login: DesktopLogin, _ browser: Browser) async throws {
        let lines = code.split(separator: "\n")
        #expect(lines.count == 3)
        let first = try await login.run(lines[0]) { url in
            try await browser.open(url)
            try await browser.press("Allow")
            try await browser.wait(for: "You are signed in")
            for (width, isDark) in [(320, false), (375, true)] as [(Int64, Bool)] {
                try await browser.show(width: width, isDark: isDark)
                #expect(try await browser.lookFaults() == [])
            }
        }
        #expect(first.status == 0, "\(first.printed)")
        for words in ["Opened the browser", "the right state and the right issuer", "Signed in."] {
            #expect(first.printed.contains(words), "\(words)")
        }
        let kept = try login.kept(in: first.printed)
        let again = try await login.run(lines[1])
        #expect(again.status == 0 && again.printed.contains("Refreshed the kept tokens"), "\(again.printed)")
        #expect(try login.kept(in: again.printed) != kept)
        for secret in ["siwa_rt_", "siwa_ac_", "eyJ"] {
            #expect(!first.printed.contains(secret) && !again.printed.contains(secret))
        }
        let last = try await login.run(lines[2])
        #expect(last.status == 0 && last.printed.contains("The tokens are revoked at"), "\(last.printed)")
        #expect(throws: (any Error).self) { try login.kept(in: again.printed) }
    }

    @Test func `a user cancels at Apple or on the page, or leaves a scope out`() async throws {
        try await DevelopmentProcess.browsed { system, browser in
            func begin() async throws {
                try await browser.open(system.google)
                try await browser.press("Link in the browser")
                try await browser.press("Continue")
            }
            try await begin()
            try await browser.press("Cancel")
            try await eventually {
                try await browser.shows("Link 1 in the browser: failed with access_denied")
            }
            try await begin()
            try await browser.press("Jane Appleseed")
            try await browser.press("Continue")
            try await browser.press("Cancel")
            try await eventually {
                try await browser.shows("Link 2 in the browser: failed with access_denied")
            }
            try await begin()
            try await browser.click("input[name='scope:\(DevelopmentClients.ownScope)']")
            try await browser.press("Agree and link")
            try await browser.wait(for: "Link 3 in the browser: linked")
            #expect(try await browser.shows("scope openid email profile access token"))
            // In the app, both end linking or lead on in the browser.
            for (press, words) in [
                ("Refuse", "failed with access_denied. Google ends linking."),
                ("Cancel", "failed with cancelled. Google goes on in the browser"),
            ] {
                try await browser.open(system.google)
                try await browser.press("Link with your iPhone app (App Flip)")
                try await browser.press("Continue")
                try await browser.press(press)
                try await browser.press("Open the Google app")
                try await browser.wait(for: words)
            }
            #expect(try await browser.refusals() == [])
        }
    }
}

/// The section of `docs/linking.md` that is followed line by line: pages to open, buttons to press, lines to
/// paste.
struct TryItSection: Sendable {
    enum Action: Sendable, Equatable {
        case open(String)
        /// Bold words.
        case press(String)
        /// A block of a shell.
        case paste(String)
    }

    struct Line: Sendable, Equatable {
        /// Number in the list of steps; 0 before the list.
        let step: Int
        let action: Action
    }

    let lines: [Line]

    init() throws {
        let page = try ProjectFolder.text("docs/linking.md")
        let section = page.components(separatedBy: "## Try it\n").last?.components(separatedBy: "\n## ").first
        var lines: [Line] = []
        var step = 0
        let marks = #/(?ms)^(\d+)\. |^ *```sh\n(.*?)```|\*\*(.+?)\*\*|(http://127\.0\.0\.1:\d+)/#
        for match in (section ?? "").matches(of: marks) {
            if let number = match.1 { step = Int(number) ?? step }
            if let code = match.2 { lines.append(Line(step: step, action: .paste(String(code)))) }
            if let label = match.3 {
                let words = label.split(whereSeparator: \.isWhitespace).joined(separator: " ")
                lines.append(Line(step: step, action: .press(words)))
            }
            if let url = match.4 { lines.append(Line(step: step, action: .open(String(url)))) }
        }
        self.lines = lines
    }
}

/// `siwa login` in a terminal of its own, with a browser that hands the URL to the test.
struct DesktopLogin: Sendable {
    let directory: TemporaryDirectory
    private let opened: String

    init(in directory: TemporaryDirectory) throws {
        self.directory = directory
        opened = directory.path(of: "opened")
        let program = directory.path(of: "browser")
        try "#!/bin/sh\nprintf '%s' \"$1\" > '\(opened).part' && mv '\(opened).part' '\(opened)'\n".write(
            toFile: program, atomically: true, encoding: .utf8)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: program)
    }

    /// Runs a command line that begins with `siwa`, and returns its output.
    ///
    /// - Parameters:
    ///   - isDevice: True if the command opens no URL, and prints one with a code.
    ///   - browse: Function that receives the URL.
    func run(
        _ line: Substring, isDevice: Bool = false, _ browse: ((String) async throws -> Void)? = nil
    ) async throws -> (status: Int32, printed: String) {
        let files = ["output", "error"].map { kind in
            URL(fileURLWithPath: directory.path(of: "login-\(UUID().uuidString).\(kind)"))
        }
        let process = try ServiceProcess.start(
            line.split(separator: " ").dropFirst().map(String.init),
            ["PATH": "/usr/bin:/bin", "HOME": directory.path, "BROWSER": directory.path(of: "browser")],
            in: directory, output: files[0], error: files[1])
        defer { if process.isRunning { process.terminate() } }
        if let browse {
            if isDevice {
                try await browse(try await printedURL(in: files[0]))
            } else {
                try await eventually { FileManager.default.fileExists(atPath: opened) }
                let url = try String(contentsOfFile: opened, encoding: .utf8)
                try FileManager.default.removeItem(atPath: opened)
                try await browse(url)
            }
        }
        try await eventually { !process.isRunning }
        let printed = try files.map { try String(contentsOf: $0, encoding: .utf8) }
        return (process.terminationStatus, printed.joined())
    }

    /// Waits for the URL with the code of a device.
    private func printedURL(in output: URL) async throws -> String {
        func url() throws -> String? {
            try String(contentsOf: output, encoding: .utf8).split(separator: "\n")
                .first { $0.contains("?user_code=") && $0.hasPrefix("  ") }
                .map { $0.trimmingCharacters(in: .whitespaces) }
        }
        try await eventually { try url() != nil }
        return try #require(try url())
    }

    /// The kept tokens, as text.
    func kept(in printed: String) throws -> String {
        let line = try #require(printed.split(separator: "\n").first { $0.hasPrefix("  file ") })
        let path = line.dropFirst(6).trimmingCharacters(in: .whitespaces)
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? NSNumber
        #expect(mode?.intValue == 0o600)
        return try String(contentsOfFile: path, encoding: .utf8)
    }
}
