import AppleEmulator
import Certificates
import EmulatorServer
import Foundation
import JOSE
import TestSupport
import Testing

@testable import siwa

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
