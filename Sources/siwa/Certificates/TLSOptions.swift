import AppleEmulator
import ArgumentParser
import Foundation

/// The TLS options of `siwa emulate`.
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

    /// `nil` for plain HTTP.
    ///
    /// - Parameter hosts: Additional names for the certificate.
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
