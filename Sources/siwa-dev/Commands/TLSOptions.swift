import AppleEmulator
import ArgumentParser
import Certificates
import Composition
import Cryptography
import Foundation

/// TLS options for `siwa emulate`.
struct TLSOptions: ParsableArguments {
    @Option(
        name: .customLong("tls-cert"),
        help: "Use TLS with this certificate (PEM, followed by the intermediate certificates).")
    var certificate: String?

    @Option(name: .customLong("tls-key"), help: "The private key of --tls-cert (PEM, without a passphrase).")
    var key: String?

    @Option(
        name: .customLong("tls-self-signed"),
        help: """
            Use TLS with a certificate from this directory for appleid.apple.com, account.apple.com, \
            localhost, 127.0.0.1, ::1 and every --allowed-host. The certificate is created when it is \
            missing or expires within a month. Clients must trust the ca.pem in this directory.
            """)
    var directory: String?

    func validate() throws {
        guard (certificate == nil) == (key == nil) else {
            throw ValidationError("Give both --tls-cert and --tls-key, or neither.")
        }
        guard certificate == nil || directory == nil else {
            throw ValidationError("Give --tls-self-signed, or --tls-cert and --tls-key, not both.")
        }
    }

    /// Reads the certificate and its key. Returns `nil` for plain HTTP.
    ///
    /// - Parameter hosts: Additional host names for the certificate.
    func read(hosts: [String], now: Int64) throws -> EmulatorTLS? {
        if let directory {
            return try CertificateDirectory(path: directory).readOrMake(for: hosts, at: now)
        }
        guard let certificate, let key else { return nil }
        return try EmulatorTLS(certificates: Self.text(of: certificate), privateKey: Self.text(of: key))
    }

    private static func text(of path: String) throws -> String {
        guard let data = FileManager.default.contents(atPath: path) else { throw FileUnreadable(path: path) }
        return String(decoding: data, as: UTF8.self)
    }

    struct FileUnreadable: Error, CustomStringConvertible {
        let path: String
        var description: String { "\(path) cannot be read; a PEM file was expected" }
    }
}

/// A directory with a TLS certificate for the fake Apple: `ca.pem` for clients to trust, `server.pem` and
/// `server-key.pem` for the server. Missing or unusable files are created.
struct CertificateDirectory {
    static let names = ["appleid.apple.com", "account.apple.com", "localhost", "127.0.0.1", "::1"]
    /// Minimum remaining validity in seconds. A certificate that expires sooner is replaced, so that it does
    /// not expire while in use.
    private static let shortestRest: Int64 = 30 * 86_400

    let path: String

    struct Unwritable: Error, CustomStringConvertible {
        let path: String
        var description: String { "\(path) cannot be written; choose another directory, or free disk space" }
    }

    /// Reads or creates the files. Throws `Unwritable`, `JOSEError`, and `EmulatorError` for invalid host
    /// names.
    func readOrMake(for hosts: [String], at now: Int64) throws -> EmulatorTLS {
        let more = hosts.map { $0.lowercased().trimmingCharacters(in: CharacterSet(charactersIn: "[]")) }
        let names = Self.names + more.filter { !Self.names.contains($0) }
        if let old = read(for: names, at: now) { return old }
        let made = try ServerCertificate.make(names: names, at: now)
        do {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        } catch {
            throw Unwritable(path: path)
        }
        try write(made.privateKey, to: keyFile, mode: 0o600)
        try write(made.authority, to: authorityFile, mode: 0o644)
        // This file is written last, so that after a crash `read` rejects an incomplete set of files: it
        // compares this file with the others.
        try write(made.certificate + made.authority, to: certificateFile, mode: 0o644)
        return try EmulatorTLS(certificates: made.certificate, privateKey: made.privateKey)
    }

    private var authorityFile: String { "\(path)/ca.pem" }
    private var certificateFile: String { "\(path)/server.pem" }
    private var keyFile: String { "\(path)/server-key.pem" }

    /// Reads the files. Returns `nil` if a file or a name is missing, if the files do not belong together, or
    /// if the certificate expires soon.
    private func read(for names: [String], at now: Int64) -> EmulatorTLS? {
        guard let authority = text(authorityFile), let certificates = text(certificateFile),
            let key = text(keyFile), certificates.hasSuffix(authority), !authority.isEmpty,
            ServerCertificate.isGood(certificates, for: names, at: now),
            ServerCertificate.isGood(certificates, for: names, at: now + Self.shortestRest)
        else { return nil }
        return try? EmulatorTLS(certificates: certificates, privateKey: key)
    }

    private func text(_ path: String) -> String? {
        FileManager.default.contents(atPath: path).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Replaces the file atomically. Other users can never read the key; they can read the certificates as
    /// soon as these are complete.
    private func write(_ text: String, to path: String, mode: mode_t) throws(Unwritable) {
        let new = "\(path).new"
        unlink(new)
        do {
            try PrivateFile.make(at: new, content: Data(text.utf8))
        } catch {
            throw Unwritable(path: path)
        }
        guard chmod(new, mode) == 0, rename(new, path) == 0 else { throw Unwritable(path: path) }
    }
}
