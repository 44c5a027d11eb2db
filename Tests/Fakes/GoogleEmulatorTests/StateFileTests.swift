import EmulatorServer
import Foundation
import GoogleEmulator
import JOSE
import StrictJSON
import TestSupport
import Testing

@Suite(.timeLimit(.hung)) struct StateFileTests {
    private static func with(_ body: @escaping @Sendable (_ path: String) async throws -> Void) async throws {
        try await TemporaryDirectory.with { try await body($0.path(of: "google")) }
    }

    private static func run(
        _ path: String, _ body: @escaping @Sendable (GoogleUnderTest) async throws -> Void
    ) async throws { try await GoogleUnderTest.run({ ($0.stateFile, $0.key) = (path, nil) }, body) }

    @Test func `links, accepted events and keys survive a restart`() async throws {
        try await Self.with { path in
            let before = Before()
            try await Self.run(path) { google in
                try await google.link()
                _ = try await google.control("streamlined", #"{"intent":"get","sub":"42"}"#)
                _ = try await google.control("keys/rotate")
                await before.keep(google.service.state.links, try await google.get("/oauth2/v3/certs").text)
            }
            try await Self.run(path) { google in
                #expect(google.service.state.links == (await before.links))
                #expect(try await google.get("/oauth2/v3/certs").text == (await before.keys))
                // The link is used, and a new one has an ID of its own.
                #expect(try await google.control("refresh", #"{"link":"1"}"#).json?["status"]?.integer == 200)
                try await google.link()
                #expect(Set(google.service.state.links.map(\.id)).count == google.service.state.links.count)
            }
        }
    }

    /// A killed emulator writes nothing more, so the next run reads the file as of the last response.
    @Test func `the file has the state of every response, also of an answer at a redirect URI`() async throws
    {
        try await Self.with { path in
            try await Self.run(path) { google in
                let begun = try await google.begin()
                let response = "\(begun.redirectURI)?state=\(begun.state)"
                try FileManager.default.copyItem(atPath: path, toPath: "\(path).begun")
                _ = try await google.get("\(response)&code=a-code-of-the-server")
                try FileManager.default.copyItem(atPath: path, toPath: "\(path).linked")
                try await Self.run("\(path).linked") { #expect($0.service.state.links.count == 1) }
                try await Self.run("\(path).begun") { next in
                    #expect(next.service.state.links.isEmpty)
                    let denied = try await next.control(
                        "answer", #"{"url":"\#(response)&error=access_denied"}"#)
                    #expect(denied.json?["error"]?.string == "access_denied")
                }
            }
        }
    }

    @Test func `only its owner can read it`() async throws {
        try await Self.with { path in
            try await Self.run(path) { _ in
                let attributes = try FileManager.default.attributesOfItem(atPath: path)
                #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
            }
        }
    }

    @Test(arguments: ["", "siwa emulator state 1 00\n{}", "siwa fake Google state 1 00\n{}"])
    func `a damaged file, and the fake Apple's, are refused`(content: String) async throws {
        try await Self.with { path in
            try content.write(toFile: path, atomically: true, encoding: .utf8)
            await #expect(throws: EmulatorError(.stateFileDamaged)) { try await Self.run(path) { _ in } }
        }
    }

    @Test func `a file that cannot be written is refused at the start`() async {
        await #expect(throws: EmulatorError(.stateFileUnwritable)) {
            try await Self.run("/no/such/folder/google") { _ in }
        }
    }

    /// Values of the first run.
    private actor Before {
        var links: [AccountLink] = []
        var keys = ""

        func keep(_ links: [AccountLink], _ keys: String) { (self.links, self.keys) = (links, keys) }
    }
}
