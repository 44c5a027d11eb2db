import Certificates
public import EmulatorServer
import JOSE
import NIOCore
import NIOSSL

/// The certificates of a server with TLS: one that clients can trust, and one of another authority for the
/// fault `wrong_certificate`. Both are made at the start, and kept in memory only.
public struct ReceiverTLS: Sendable {
    private struct Identity: Sendable {
        let chain: [NIOSSLCertificateSource]
        let key: NIOSSLPrivateKeySource
    }

    /// The authority in PEM that clients must trust.
    public let authority: String
    private let right: Identity
    private let wrong: Identity

    /// - Parameters:
    ///   - names: Host names and IP addresses of the server.
    ///   - now: Seconds since 1970.
    /// - Throws: `.configurationInvalid` for an invalid name.
    public init(names: [String], at now: Int64) throws(EmulatorError) {
        do {
            let made = try ServerCertificate.make(names: names, at: now)
            authority = made.authority
            right = try Self.identity(made)
            wrong = try Self.identity(try ServerCertificate.make(names: names, at: now))
        } catch {
            throw EmulatorError(.configurationInvalid, detail: "the certificate could not be made")
        }
    }

    private static func identity(_ made: ServerCertificate) throws -> Identity {
        let chain = try NIOSSLCertificate.fromPEMBytes(Array(made.certificate.utf8))
        let key = try NIOSSLPrivateKey(bytes: Array(made.privateKey.utf8), format: .pem)
        return Identity(chain: chain.map { .certificate($0) }, key: .privateKey(key))
    }

    /// The certificate is chosen at each handshake.
    func configuration(of state: ReceiverState) -> TLSConfiguration {
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: right.chain, privateKey: right.key)
        configuration.applicationProtocols = ["http/1.1"]
        configuration.sslContextCallback = { [wrong] _, promise in
            var override = NIOSSLContextConfigurationOverride.noChanges
            if state.showsWrongCertificate {
                (override.certificateChain, override.privateKey) = (wrong.chain, wrong.key)
            }
            promise.succeed(override)
        }
        return configuration
    }
}
