import AppleEmulator
import ArgumentParser
import Foundation

/// How `siwa emulate` speaks TLS, if it does.
struct TLSOptions: ParsableArguments {
    @Option(
        name: .customLong("tls-cert"),
        help: "Speak TLS with this certificate (PEM, with the certificates between it and its authority).")
    var certificate: String?

    @Option(name: .customLong("tls-key"), help: "The key of --tls-cert (PEM, without a passphrase).")
    var key: String?

    @Option(
        name: .customLong("tls-self-signed"),
        help: """
            Speak TLS with a certificate of this directory for appleid.apple.com, account.apple.com, localhost, 127.0.0.1, \
            ::1 and every --allowed-host. It is made when it is not there, or good for less than a month more. ca.pem in \
            it is what clients have to trust.
            """)
    var directory: String?

    func validate() throws {
        guard (certificate == nil) == (key == nil) else {
            throw ValidationError("--tls-cert and --tls-key need each other.")
        }
        guard certificate == nil || directory == nil else {
            throw ValidationError("--tls-self-signed takes the place of --tls-cert and --tls-key.")
        }
    }

    var isOn: Bool { certificate != nil || directory != nil }

    /// `nil` for plain HTTP.
    ///
    /// - Parameter hosts: Names for the certificate, besides those that it always has.
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
        var description: String { "\(path) cannot be read; a PEM file was expected there" }
    }
}
