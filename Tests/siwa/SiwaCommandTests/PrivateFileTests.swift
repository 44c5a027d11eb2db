import AppleEmulator
import Certificates
import Cryptography
import EmulatorServer
import Foundation
import JOSE
import Logging
import SQLiteStorage
import StrictJSON
import Synchronization
import TestSupport
import Testing

@testable import Composition
@testable import siwa
@testable import siwa_dev

/// Files with secrets or personal data, created repeatedly while another thread reads their modes. A file
/// that is readable by others for a few microseconds is found within a few rounds.
@Suite(.serialized, .timeLimit(.hung)) struct PrivateFileTests {
    private static func withDirectories(_ count: Int, _ body: (String) async throws -> Void) async throws {
        for _ in 0..<count { try await SigningKeySettingsTests.withDirectory([:]) { try await body($0) } }
    }

    @Test func `the database and its files are never readable by others`() async throws {
        var seen: Set<String> = []
        try await Self.withDirectories(50) { directory in
            let path = "\(directory)/siwa.sqlite"
            let files = ["", "-wal", "-shm", "-journal", ".lock"].map { path + $0 }
            let watch = try await ModeWatch.watching(files) {
                let database = try await SQLiteDatabase.open(path: path, logger: Logger(label: "test"))
                await database.close()
            }
            #expect(watch.open.isEmpty)
            seen.formUnion(watch.seen.map { String($0.dropFirst(path.count)) })
        }
        #expect(seen.isSuperset(of: ["", "-wal", "-shm", ".lock"]))
    }

    @Test func `a new signing key is never readable by others`() async throws {
        try await Self.withDirectories(50) { directory in
            let path = "\(directory)/AuthKey_ABC123DEFG.p8"
            let watch = try await ModeWatch.watching([path]) {
                _ = try ClientKeyFile(path: path, keyID: nil).readOrMake(teamID: "TEAM000001")
            }
            #expect(watch.open.isEmpty)
        }
    }

    @Test func `transfer files are never readable by others`() async throws {
        try await Self.withDirectories(50) { directory in
            let path = "\(directory)/transfer.jsonl"
            let watch = try await ModeWatch.watching([path]) {
                let object = try #require(try JSONValue(parsing: Array(#"{"sub":"1"}"#.utf8)).object)
                try LineFile.replace(path, with: [object])
                try LineFile.replace(path, with: [object, object])
            }
            #expect(watch.open.isEmpty)
        }
    }

    @Test func `an existing file is not changed`() async throws {
        try await Self.withDirectories(1) { directory in
            let path = "\(directory)/file"
            try PrivateFile.make(at: path, content: Data("one".utf8))
            #expect(throws: CocoaError.self) { try PrivateFile.make(at: path, content: Data("two".utf8)) }
            #expect(try String(contentsOfFile: path, encoding: .utf8) == "one")
            #expect(throws: CocoaError.self) {
                try PrivateFile.make(at: "\(directory)/none/file", content: Data())
            }
        }
    }
}

/// Reads the modes of files as fast as possible while they are created, and records which files others could
/// access at any time.
final class ModeWatch: Sendable {
    private let paths: [String]
    private let state = Mutex(State())

    private struct State {
        var seen: Set<String> = []
        var open: Set<String> = []
        var hasBegun = false
        var isStopped = false
    }

    /// - Parameter paths: The paths of files that do not exist yet.
    static func watching(_ paths: [String], _ body: () async throws -> Void) async throws -> ModeWatch {
        let watch = ModeWatch(paths)
        let thread = Thread { watch.look() }
        thread.start()
        defer { watch.state.withLock { $0.isStopped = true } }
        while !watch.state.withLock(\.hasBegun) { await Task.yield() }
        try await body()
        return watch
    }

    private init(_ paths: [String]) { self.paths = paths }

    /// Files that existed at some time.
    var seen: Set<String> { state.withLock(\.seen) }
    /// Files that users other than the owner could read or write at some time.
    var open: Set<String> { state.withLock(\.open) }

    private func look() {
        state.withLock { $0.hasBegun = true }
        while !state.withLock(\.isStopped) {
            for path in paths {
                var status = stat()
                guard stat(path, &status) == 0 else { continue }
                state.withLock { state in
                    state.seen.insert(path)
                    if status.st_mode & 0o077 != 0 { state.open.insert(path) }
                }
            }
        }
    }
}

@Suite struct CertificateDirectoryTests {
    private static let now = ProcessObservation.millisecondsSince1970() / 1000

    private static func with(_ body: (String) async throws -> Void) async throws {
        try await TemporaryDirectory.with { try await body($0.path(of: "tls")) }
    }

    private static func content(_ path: String) throws -> [String: String] {
        let files = try FileManager.default.contentsOfDirectory(atPath: path)
        return try Dictionary(
            uniqueKeysWithValues: files.map {
                ($0, try String(contentsOfFile: "\(path)/\($0)", encoding: .utf8))
            })
    }

    private static func make(_ path: String, _ hosts: [String] = [], at moment: Int64 = now) throws {
        _ = try CertificateDirectory(path: path).readOrMake(for: hosts, at: moment)
    }

    @Test(arguments: CertificateDirectory.names + ["apple.test"])
    func `a strict verifier takes the certificate for each of its names`(name: String) async throws {
        try await Self.with { path in
            try Self.make(path, ["Apple.Test"])
            let kind = name.contains(":") || name.hasPrefix("127.") ? "-verify_ip" : "-verify_hostname"
            for (name, isGood) in [(name, true), (kind == "-verify_ip" ? "192.0.2.1" : "other.test", false)] {
                let openssl = try await ProgramRun.named(
                    "openssl",
                    [
                        "verify", "-x509_strict", "-purpose", "sslserver", "-CAfile", "\(path)/ca.pem",
                        kind, name, "\(path)/server.pem",
                    ])
                #expect((openssl.status == 0) == isGood)
            }
        }
    }

    @Test func `only the owner reads the key, and the authority's key is nowhere`() async throws {
        try await Self.with { path in
            try Self.make(path)
            let files = try Self.content(path)
            #expect(files.keys.sorted() == ["ca.pem", "server-key.pem", "server.pem"])
            #expect(files.filter { $0.value.contains("PRIVATE KEY") }.keys.sorted() == ["server-key.pem"])
            let mode = try FileManager.default.attributesOfItem(atPath: "\(path)/server-key.pem")[
                .posixPermissions]
            #expect((mode as? NSNumber)?.intValue == 0o600)
        }
    }

    @Test func `the next start uses the existing files`() async throws {
        try await Self.with { path in
            try Self.make(path, ["apple.test"])
            let first = try Self.content(path)
            try Self.make(path, ["apple.test"], at: Self.now + 300 * 86_400)
            try Self.make(path)
            #expect(try Self.content(path) == first)
        }
    }

    @Test func `the certificate is replaced when it expires within a month, and for a new name`() async throws
    {
        try await Self.with { path in
            try Self.make(path)
            let first = try Self.content(path)
            try Self.make(path, at: Self.now + 340 * 86_400)
            let second = try Self.content(path)
            #expect(first["ca.pem"] != second["ca.pem"])
            try Self.make(path, ["apple.test"], at: Self.now + 340 * 86_400)
            #expect(try Self.content(path)["ca.pem"] != second["ca.pem"])
        }
    }

    @Test(arguments: ["ca.pem", "server.pem", "server-key.pem"], [nil, "", "damaged"])
    func `the certificate is replaced when a file is missing or damaged`(file: String, content: String?)
        async throws
    {
        try await Self.with { path in
            try Self.make(path)
            let first = try Self.content(path)
            if let content {
                try content.write(toFile: "\(path)/\(file)", atomically: false, encoding: .utf8)
            } else {
                try FileManager.default.removeItem(atPath: "\(path)/\(file)")
            }
            try Self.make(path)
            let second = try Self.content(path)
            #expect(second.keys == first.keys)
            #expect(second["ca.pem"] != first["ca.pem"])
            try Self.make(path)
            #expect(try Self.content(path) == second)
        }
    }

    /// `notBefore` and `notAfter` belong to the validity (RFC 5280 §4.1.2.5).
    @Test func `a certificate is good from its first to its last second`() throws {
        let made = try ServerCertificate.make(names: ["localhost"], at: Self.now)
        let (begin, end) = (Self.now - 3600, Self.now + Int64(ServerCertificate.lifetime) * 86_400)
        for (time, isGood) in [(begin - 1, false), (begin, true), (end, true), (end + 1, false)] {
            #expect(ServerCertificate.isGood(made.certificate, for: ["localhost"], at: time) == isGood)
        }
    }

    @Test(arguments: ["a,b", "a\nb", "", "DNS:x"])
    func `an invalid host name gets no certificate`(name: String) throws {
        #expect(throws: JOSEError(.signingFailed)) {
            try ServerCertificate.make(names: ["localhost", name], at: Self.now)
        }
    }

    @Test func `a directory that cannot be written is named`() async throws {
        let error = #expect(throws: CertificateDirectory.Unwritable.self) { try Self.make("/dev/null/tls") }
        #expect(error?.description.contains("/dev/null/tls") == true)
    }

    @Test func `a key that does not match the certificate is refused at the start`() throws {
        let one = try ServerCertificate.make(names: ["localhost"], at: Self.now)
        let other = try ServerCertificate.make(names: ["localhost"], at: Self.now)
        _ = try EmulatorTLS(certificates: one.certificate + one.authority, privateKey: one.privateKey)
        for (certificates, key) in [
            (one.certificate, other.privateKey), ("none", one.privateKey), (one.certificate, "none"),
            ("", ""),
        ] {
            #expect(throws: EmulatorError(.configurationInvalid)) {
                try EmulatorTLS(certificates: certificates, privateKey: key)
            }
        }
    }
}
