import Foundation
import JOSE
import TestSupport
import Testing

@testable import AppleIDClient

@Suite final class SigningKeyFilesTests {
    let directory: TemporaryDirectory
    let time = ManualClock(millisecondsSince1970: 1_700_000_000_000)

    init() throws { directory = try TemporaryDirectory() }

    func path(_ name: String) -> String { directory.path(of: name) }

    /// Writes a key file with a modification time of this many seconds after 2001.
    func write(_ keyID: String, at seconds: Double, _ content: String? = nil) throws {
        let path = path("AuthKey_\(keyID).p8")
        try Data((try content ?? ECPrivateKey.generate().pem).utf8).write(to: URL(fileURLWithPath: path))
        let date = Date(timeIntervalSinceReferenceDate: seconds)
        try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: path)
    }

    func files(_ location: SigningKeyLocation? = nil) -> SigningKeyFiles {
        SigningKeyFiles(
            ["TEAM": location ?? .directory(path: directory.path)],
            uptime: { [time] in .seconds(time.secondsSince1970) })
    }

    /// Returns the key IDs after the interval between two checks.
    func keyIDs(_ files: SigningKeyFiles) -> [String] {
        time.secondsSince1970 += 3
        return files.keys(ofTeam: "TEAM").map(\.keyID)
    }

    @Test func `returns every key of a directory, the newest first`() throws {
        try write("AAAAAAAAAA", at: 1)
        try write("BBBBBBBBBB", at: 3)
        try write("CCCCCCCCCC", at: 2)
        #expect(keyIDs(files()) == ["BBBBBBBBBB", "CCCCCCCCCC", "AAAAAAAAAA"])
    }

    @Test func `a new key is used, and a removed key is not used any more`() throws {
        try write("AAAAAAAAAA", at: 1)
        let files = files()
        #expect(keyIDs(files) == ["AAAAAAAAAA"])
        try write("BBBBBBBBBB", at: 2)
        #expect(keyIDs(files) == ["BBBBBBBBBB", "AAAAAAAAAA"])
        try FileManager.default.removeItem(atPath: path("AuthKey_AAAAAAAAAA.p8"))
        #expect(keyIDs(files) == ["BBBBBBBBBB"])
        try FileManager.default.removeItem(atPath: path("AuthKey_BBBBBBBBBB.p8"))
        #expect(keyIDs(files) == [])
    }

    @Test func `checks the files at most every three seconds`() throws {
        try write("AAAAAAAAAA", at: 1)
        let files = files()
        #expect(files.keys(ofTeam: "TEAM").count == 1)
        try write("BBBBBBBBBB", at: 2)
        time.secondsSince1970 += 2
        #expect(files.keys(ofTeam: "TEAM").count == 1)
        time.secondsSince1970 += 1
        #expect(files.keys(ofTeam: "TEAM").count == 2)
    }

    @Test func `the new key of a replaced file is used`() throws {
        try write("AAAAAAAAAA", at: 1)
        let files = files(.file(path: path("AuthKey_AAAAAAAAAA.p8"), keyID: nil))
        let old = files.keys(ofTeam: "TEAM")
        try write("AAAAAAAAAA", at: 2)
        time.secondsSince1970 += 3
        let new = files.keys(ofTeam: "TEAM")
        #expect(new.map(\.keyID) == ["AAAAAAAAAA"])
        #expect(new != old)
    }

    @Test(arguments: ["", "-----BEGIN PRIVATE KEY-----\nMIGH", "garbage"])
    func `an incomplete file keeps its last good key until it is complete`(content: String) throws {
        try write("AAAAAAAAAA", at: 1)
        try write("BBBBBBBBBB", at: 2)
        let files = files()
        let good = files.keys(ofTeam: "TEAM")
        try write("AAAAAAAAAA", at: 3, content)
        time.secondsSince1970 += 3
        #expect(Set(files.keys(ofTeam: "TEAM").map(\.keyID)) == Set(good.map(\.keyID)))
        // The modification time stays the same, but the file must be read again.
        try write("AAAAAAAAAA", at: 3)
        time.secondsSince1970 += 3
        let whole = files.keys(ofTeam: "TEAM")
        #expect(whole.count == 2)
        #expect(!whole.contains(try #require(good.last)))
    }

    @Test func `a directory that cannot be read for a while keeps its keys`() throws {
        try write("AAAAAAAAAA", at: 1)
        let files = files()
        #expect(keyIDs(files) == ["AAAAAAAAAA"])
        let away = directory.path + "-away"
        try FileManager.default.moveItem(atPath: directory.path, toPath: away)
        #expect(keyIDs(files) == ["AAAAAAAAAA"])
        try FileManager.default.moveItem(atPath: away, toPath: directory.path)
        #expect(keyIDs(files) == ["AAAAAAAAAA"])
    }

    @Test func `another team has no keys`() throws {
        try write("AAAAAAAAAA", at: 1)
        #expect(files().keys(ofTeam: "OTHER").isEmpty)
    }

    @Test func `reports the error of a location`() throws {
        func code(_ location: SigningKeyLocation) -> SigningKeyError.Code? {
            do throws(SigningKeyError) {
                _ = try SigningKeyFiles.read(location)
                return nil
            } catch { return error.code }
        }
        let all = SigningKeyLocation.directory(path: directory.path)
        #expect(code(all) == .noKey)
        try write("AAAAAAAAAA", at: 1)
        #expect(code(all) == nil)
        let file = path("AuthKey_AAAAAAAAAA.p8")
        #expect(code(.file(path: file, keyID: nil)) == nil)
        #expect(code(.file(path: file, keyID: "short")) == .keyIDMalformed)
        #expect(code(.file(path: path("key.p8"), keyID: nil)) == .missing)
        try FileManager.default.copyItem(atPath: file, toPath: path("key.p8"))
        #expect(code(.file(path: path("key.p8"), keyID: nil)) == .keyIDMissing)
        try FileManager.default.removeItem(atPath: path("key.p8"))
        #expect(code(.file(path: path("AuthKey_BBBBBBBBBB.p8"), keyID: nil)) == .missing)
        #expect(code(.directory(path: path("nothing"))) == .missing)
        try write("BBBBBBBBBB", at: 1, "garbage")
        #expect(code(all) == .notPEM)
        for letter in "CDEFGHIJ" { try write(String(repeating: letter, count: 10), at: 1) }
        #expect(code(all) == .tooManyKeys)
    }
}

@Suite struct AppleEndpointsTests {
    @Test func `are Apple's by default`() {
        #expect(AppleEndpoints.apple.keySet == "https://appleid.apple.com/auth/keys")
    }

    @Test(arguments: [
        ("http://127.0.0.1:8081", "http://127.0.0.1:8081/auth/keys"),
        ("http://localhost:1/", "http://localhost:1/auth/keys"),
        ("http://[::1]:65535", "http://[::1]:65535/auth/keys"), ("http://[::1]", "http://[::1]/auth/keys"),
        ("https://appleid.example.com/fake//", "https://appleid.example.com/fake/auth/keys"),
    ])
    func `are built from a base URL`(baseURL: String, keySet: String) {
        #expect(AppleEndpoints(baseURL: baseURL)?.keySet == keySet)
    }

    @Test(arguments: [
        "", "appleid.apple.com", "/auth", "ftp://a", "file:///etc/passwd", "unix:///socket", "http+unix://a",
        "http://", "https:///auth", "http://:80", "http://a:", "http://a:0", "http://a:65536", "http://a:x",
        "http://user@a", "http://user:secret@a", "http://a?x=1", "http://a#x", "http://a b",
        "http://a\r\nX: y",
        "http://a\u{0}", "http://ä", "http://a:80:80", "http://[]", "http://[::1", "http://::1]:80",
        "http://[x]", "http://a%00b", #"http://a\b"#, "HTTP://a",
    ])
    func `refuse a text that is not a plain base URL`(baseURL: String) {
        #expect(AppleEndpoints(baseURL: baseURL) == nil)
    }
}

/// Checks that only a server with a certificate that the system trusts is accepted as Apple.
@Suite(.timeLimit(.hung)) struct TrustTests {
    @Test func `nothing is sent to a server whose certificate is not trusted`() async throws {
        let server = try await StrangeTLSServer()
        let limits = AppleTimeLimits(connect: .seconds(3), read: .seconds(3), total: .seconds(50))
        try await AskedClient.with("https://localhost:\(server.port)", limits: limits) { client in
            let error = try #require(await Call.exchange.failure(client))
            #expect(error == AppleCallError(.unreachable))
            #expect(!error.mayHaveHappened)
        }
        // The server was reached, and its certificate was refused.
        try await eventually { server.text.contains("alert unknown ca") }
    }
}

@Suite struct OutgoingRequestSpanTests {
    @Test(
        arguments: [
            ("https://appleid.apple.com/auth/token", "appleid.apple.com"),
            ("http://127.0.0.1:8081/auth/keys", "127.0.0.1"),
            ("https://hooks.example.com", "hooks.example.com"), ("http://[::1]:8083/webhook", "[::1]"),
            ("https://hooks.example.com?key=secret", "hooks.example.com"),
            ("https://hooks.example.com:443?key=secret", "hooks.example.com"),
            ("https://a.example#x/y", "a.example"),
            ("nonsense", nil),
        ] as [(String, String?)])
    func `a span has the host of a URL, and nothing behind it`(url: String, host: String?) {
        #expect(OutgoingRequestSpan.host(of: url) == host)
    }
}
