public import EmulatorServer
import NIOSSL

/// The TLS certificate and key of the emulator. With them, the emulator accepts only TLS, as Apple does.
public struct EmulatorTLS: Sendable {
    let configuration: TLSConfiguration

    /// - Parameters:
    ///   - certificates: PEM of the server's certificate, followed by the intermediate certificates.
    ///   - privateKey: PEM, without a passphrase.
    /// - Throws: `.configurationInvalid` when they cannot be read or do not belong together.
    public init(certificates: String, privateKey: String) throws(EmulatorError) {
        let chain: [NIOSSLCertificate]
        do {
            chain = try NIOSSLCertificate.fromPEMBytes(Array(certificates.utf8))
        } catch {
            throw EmulatorError(.configurationInvalid, detail: "the TLS certificate is not a PEM certificate")
        }
        let key: NIOSSLPrivateKey
        do {
            key = try NIOSSLPrivateKey(bytes: Array(privateKey.utf8), format: .pem)
        } catch {
            throw EmulatorError(
                .configurationInvalid, detail: "the TLS key is not a PEM private key without a passphrase")
        }
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
        configuration.applicationProtocols = ["http/1.1"]
        do {
            // Checked at the start, so that the error does not appear only at the first connection.
            _ = try NIOSSLContext(configuration: configuration)
        } catch {
            throw EmulatorError(
                .configurationInvalid, detail: "the TLS key does not belong to the first TLS certificate")
        }
        self.configuration = configuration
    }
}
