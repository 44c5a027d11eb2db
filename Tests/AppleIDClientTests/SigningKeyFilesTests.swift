import AppleIDClient
import Foundation
import JOSE
import Testing

@Suite final class SigningKeyFilesTests {
    let directory: URL
    let time = ManualTime()

    init() throws {
        directory = FileManager.default.temporaryDirectory.appendingPathComponent(
            "siwa-keys-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: directory) }

    func path(_ name: String) -> String { directory.appendingPathComponent(name).path }

    /// Writes a key file whose time of change is a number of seconds after 2001.
    func write(_ keyID: String, at seconds: Double, _ content: String? = nil) throws {
        let path = path("AuthKey_\(keyID).p8")
        try Data((try content ?? ECPrivateKey.generate().pem).utf8).write(to: URL(fileURLWithPath: path))
        let date = Date(timeIntervalSinceReferenceDate: seconds)
        try FileManager.default.setAttributes([.modificationDate: date], ofItemAtPath: path)
    }

    func files(_ location: SigningKeyLocation? = nil) -> SigningKeyFiles {
        SigningKeyFiles(["TEAM": location ?? .directory(path: directory.path)], uptime: time.uptime)
    }

    /// After the pause between two looks.
    func keyIDs(_ files: SigningKeyFiles) -> [String] {
        time.now += 3
        return files.keys(ofTeam: "TEAM").map(\.keyID)
    }

    @Test func `brings every key of a directory, the newest first`() throws {
        try write("AAAAAAAAAA", at: 1)
        try write("BBBBBBBBBB", at: 3)
        try write("CCCCCCCCCC", at: 2)
        #expect(keyIDs(files()) == ["BBBBBBBBBB", "CCCCCCCCCC", "AAAAAAAAAA"])
    }

    @Test func `a key that appears is picked up, and one that goes is gone`() throws {
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

    @Test func `looks every three seconds at most`() throws {
        try write("AAAAAAAAAA", at: 1)
        let files = files()
        #expect(files.keys(ofTeam: "TEAM").count == 1)
        try write("BBBBBBBBBB", at: 2)
        time.now += 2
        #expect(files.keys(ofTeam: "TEAM").count == 1)
        time.now += 1
        #expect(files.keys(ofTeam: "TEAM").count == 2)
    }

    @Test func `a file that is replaced brings its new key`() throws {
        try write("AAAAAAAAAA", at: 1)
        let files = files(.file(path: path("AuthKey_AAAAAAAAAA.p8"), keyID: nil))
        let old = files.keys(ofTeam: "TEAM")
        try write("AAAAAAAAAA", at: 2)
        time.now += 3
        let new = files.keys(ofTeam: "TEAM")
        #expect(new.map(\.keyID) == ["AAAAAAAAAA"])
        #expect(new != old)
    }

    @Test(arguments: ["", "-----BEGIN PRIVATE KEY-----\nMIGH", "garbage"])
    func `a file that is half written keeps its last good key until it is whole`(content: String) throws {
        try write("AAAAAAAAAA", at: 1)
        try write("BBBBBBBBBB", at: 2)
        let files = files()
        let good = files.keys(ofTeam: "TEAM")
        try write("AAAAAAAAAA", at: 3, content)
        time.now += 3
        #expect(Set(files.keys(ofTeam: "TEAM").map(\.keyID)) == Set(good.map(\.keyID)))
        // The time of change stays: it must be read again all the same.
        try write("AAAAAAAAAA", at: 3)
        time.now += 3
        let whole = files.keys(ofTeam: "TEAM")
        #expect(whole.count == 2)
        #expect(!whole.contains(try #require(good.last)))
    }

    @Test func `a directory that cannot be read for a moment keeps its keys`() throws {
        try write("AAAAAAAAAA", at: 1)
        let files = files()
        #expect(keyIDs(files) == ["AAAAAAAAAA"])
        let away = directory.path + "-away"
        try FileManager.default.moveItem(atPath: directory.path, toPath: away)
        #expect(keyIDs(files) == ["AAAAAAAAAA"])
        try FileManager.default.moveItem(atPath: away, toPath: directory.path)
        #expect(keyIDs(files) == ["AAAAAAAAAA"])
    }

    @Test func `another team has none`() throws {
        try write("AAAAAAAAAA", at: 1)
        #expect(files().keys(ofTeam: "OTHER").isEmpty)
    }

    @Test func `says what is wrong with a location`() throws {
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
        #expect(code(.file(path: path("key.p8"), keyID: nil)) == .keyIDMissing)
        #expect(code(.file(path: path("AuthKey_BBBBBBBBBB.p8"), keyID: nil)) == .missing)
        #expect(code(.directory(path: path("nothing"))) == .missing)
        try write("BBBBBBBBBB", at: 1, "garbage")
        #expect(code(all) == .notPEM)
        for letter in "CDEFGHIJ" { try write(String(repeating: letter, count: 10), at: 1) }
        #expect(code(all) == .tooManyKeys)
    }
}
