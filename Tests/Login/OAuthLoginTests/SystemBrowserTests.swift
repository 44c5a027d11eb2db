import Foundation
import TestSupport
import Testing

@testable import OAuthLogin

@Suite struct SystemBrowserTests {
    static let url = "https://signin.example.com/oauth/authorize?a=1&state=%24(touch%20x);$(touch x)"

    @Test func `BROWSER names programs in their order, and comes before the desktop's`() {
        let browser = SystemBrowser(environment: ["BROWSER": "firefox --new-window:w3m %s", "DISPLAY": ":0"])
        #expect(browser.commands == [["firefox", "--new-window"], ["w3m", "%s"]])
    }

    @Test(arguments: [[:], ["BROWSER": ""], ["BROWSER": " : "]])
    func `without a display and without BROWSER there is none`(environment: [String: String]) {
        #if os(macOS)
            #expect(SystemBrowser(environment: environment).commands == [["open"]])
        #else
            #expect(SystemBrowser(environment: environment).commands.isEmpty)
            #expect(!SystemBrowser(environment: environment).open(Self.url))
            let desktop = environment.merging(["WAYLAND_DISPLAY": "wayland-0"]) { $1 }
            #expect(SystemBrowser(environment: desktop).commands == [["xdg-open"]])
        #endif
    }

    @Test func `the URL takes the place of the mark, or comes last`() {
        #expect(SystemBrowser.arguments(["-a", "x=%s"], for: "u") == ["-a", "x=u"])
        #expect(SystemBrowser.arguments(["-a"], for: "u") == ["-a", "u"])
    }

    @Test func `the first program that exists gets the URL as one word, and no shell reads it`() async throws
    {
        try await TemporaryDirectory.with { directory in
            let program = directory.path(of: "my-browser")
            try "#!/bin/sh\nprintf '%s %s' $# \"$1\" > \"$0.part\"; mv \"$0.part\" \"$0.got\"\n".write(
                toFile: program, atomically: true, encoding: .utf8)
            try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: program)
            let browser = SystemBrowser(environment: [
                "BROWSER": "no-such-program:\(program)", "PATH": "/usr/bin:/bin",
            ])
            #expect(browser.open(Self.url))
            try await eventually { FileManager.default.fileExists(atPath: "\(program).got") }
            #expect(try String(contentsOfFile: "\(program).got", encoding: .utf8) == "1 \(Self.url)")
        }
    }
}
