import COpenSSL
import JOSE

extension PEMText {
    static func certificate(_ certificate: OpaquePointer) -> String? {
        text { PEM_write_bio_X509($0, certificate) }
    }

    /// The first certificate of the text, or `nil` when there is none.
    static func readCertificate(_ pem: String) -> CertificateHandle? {
        guard let certificate = read(pem, { PEM_read_bio_X509($0, nil, nil, nil) }) else {
            ERR_clear_error()
            return nil
        }
        return CertificateHandle(owning: certificate)
    }
}
