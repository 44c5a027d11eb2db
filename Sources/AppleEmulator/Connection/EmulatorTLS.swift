import NIOSSL

/// The certificate that the emulator shows, and its key: then it speaks TLS only, as Apple does.
public struct EmulatorTLS: Sendable {
    let configuration: TLSConfiguration

    /// - Parameters:
    ///   - certificates: PEM of the server's certificate, and then of those between it and the one that clients trust.
    ///   - privateKey: PEM, without a passphrase.
    /// - Throws: `.configurationInvalid` when they cannot be read, or do not belong together.
    public init(certificates: String, privateKey: String) throws(EmulatorError) {
        let chain: [NIOSSLCertificate]
        do {
            chain = try NIOSSLCertificate.fromPEMBytes(Array(certificates.utf8))
        } catch {
            throw EmulatorError(.configurationInvalid, detail: "the TLS certificate is no PEM certificate")
        }
        let key: NIOSSLPrivateKey
        do {
            key = try NIOSSLPrivateKey(bytes: Array(privateKey.utf8), format: .pem)
        } catch {
            throw EmulatorError(
                .configurationInvalid, detail: "the TLS key is no PEM private key without a passphrase")
        }
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(key))
        configuration.applicationProtocols = ["http/1.1"]
        do {
            // Found out now, and not by the first client.
            _ = try NIOSSLContext(configuration: configuration)
        } catch {
            throw EmulatorError(
                .configurationInvalid, detail: "the TLS key does not belong to the first TLS certificate")
        }
        self.configuration = configuration
    }
}
