import Foundation
import NIOSSL
import SiwaBinary
import TestSupport
import Testing

@testable import SiwaClient

/// The options of a client, and the file of a cursor.
@Suite struct OptionTests {
    @Test(arguments: [
        ("", "key", ""), ("siwa.internal", "key", ""), ("ftp://siwa", "key", ""),
        ("http://user:pw@siwa", "key", ""), ("http://siwa?x=1", "key", ""), ("http://siwa", "", ""),
        ("http://siwa", "a b", ""), ("http://siwa", "a\r\nX: y", ""), ("http://siwa", "\u{e9}", ""),
        ("http://siwa", "key", "secret"), ("http://siwa", "key", "whsec_c2hvcnQ="),
        ("http://siwa", "key", "whsec_" + String(repeating: "A", count: 88)),
    ])
    func `a client does not start with a malformed option, and does not repeat it`(
        url: String, key: String, secrets: String
    ) throws {
        let error = #expect(throws: SiwaError.self) {
            try Siwa(url: url, apiKey: key, webhookSecrets: secrets)
        }
        #expect(error?.code == "misconfigured" && error?.forApp.status == 500)
        for text in ["pw", "X: y", "c2hvcnQ"] { #expect(error?.description.contains(text) == false) }
    }

    @Test func `a call that needs the app's client ID says so`() async throws {
        let client = try Siwa(url: "http://siwa", apiKey: "key")
        let error = await #expect(throws: SiwaError.self) { try await client.state(of: "sub") }
        #expect(error?.code == "misconfigured" && error?.description.contains("SIWA_CLIENT_ID") == true)
    }

    @Test(.timeLimit(.hung)) func `a private authority is trusted only with the option for it`() async throws
    {
        try await TemporaryDirectory.with { directory in
            // The fake Apple is a server with a certificate of its own authority, and without siwa's calls.
            let (port, process) = (try FreePort.find(), Process())
            process.executableURL = try BuiltSiwa.url(of: "siwa-dev")
            process.arguments = [
                "emulate", "--port", "\(port)", "--client-id", "com.example.app", "--tls-self-signed",
                directory.path(of: "tls"),
            ]
            process.environment = ["PATH": "/usr/bin:/bin", "TMPDIR": directory.path]
            (process.standardOutput, process.standardError) = (FileHandle.nullDevice, FileHandle.nullDevice)
            process.currentDirectoryURL = URL(filePath: directory.path)
            try process.launchAlone()
            defer {
                process.terminate()
                process.waitUntilExit()
            }
            var tls = TLSConfiguration.makeClientConfiguration()
            tls.trustRoots = .file(directory.path(of: "tls/ca.pem"))
            let url = "https://localhost:\(port)"
            let client = try Siwa(url: url, apiKey: "key", attempts: 1, tls: tls)
            try await eventually {
                let error = await #expect(throws: SiwaError.self) { try await client.makeNonce() }
                return error?.code == "path_not_found"
            }
            let stranger = try Siwa(url: url, apiKey: "key", attempts: 1)
            let error = await #expect(throws: SiwaError.self) { try await stranger.makeNonce() }
            #expect(error?.code == "unreachable")
        }
    }

    @Test func `a cursor in a file outlives the process`() async throws {
        try await TemporaryDirectory.with { directory in
            let store = FileCursor(path: directory.path(of: "cursor"))
            #expect(try store.load() == nil)
            try store.save("c1")
            try store.save("c2")
            #expect(try FileCursor(path: directory.path(of: "cursor")).load() == "c2")
            #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["cursor"])
        }
    }

    @Test func `a cancelled call throws CancellationError, and a cancelled feed ends`() async throws {
        let client = try Siwa(url: "http://127.0.0.1:\(ClosedPort().port)", apiKey: "key")
        let call = Task { try await client.makeNonce() }
        call.cancel()
        await #expect(throws: CancellationError.self) { try await call.value }
        try await TemporaryDirectory.with { directory in
            let store = FileCursor(path: directory.path(of: "cursor"))
            let loop = Task { for try await _ in client.events(cursor: store) {} }
            try await Task.sleep(for: .milliseconds(100))
            loop.cancel()
            try await loop.value
        }
    }

    @Test func `times keep their milliseconds`() {
        for milliseconds in 0..<1000 {
            let text = "2026-03-14T09:30:00.\("\(milliseconds + 1000)".dropFirst())Z"
            #expect(Date(text: text)?.text == text)
        }
        for text in ["2026-03-14T09:30:00Z", "2026-02-30T09:30:00.000Z", "2026-03-14T09:30:00.0000Z", ""] {
            #expect(Date(text: text) == nil)
        }
    }
}
