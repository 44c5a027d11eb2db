import COpenSSL
import JOSE

extension AttestationMint {
    /// Signs a receipt with OpenSSL, under the root of the mint.
    public func receipt(_ parts: ReceiptParts) throws -> [UInt8] {
        let key = try MintedKey()
        let signer = try signerCertificate(of: key, validity: parts.signerValidity)
        let leaf = try parts.leaf ?? self.leaf(of: AttestationParts(key: parts.key)).der
        let content = parts.content ?? ReceiptParts.encoded(parts.fields(leaf: leaf))
        return try Self.sign(
            content, by: signer, key, through: intermediate, isStreamed: parts.isStreamed,
            hasAttributes: parts.hasSignedAttributes)
    }

    private static func sign(
        _ content: [UInt8], by certificate: MintedCertificate, _ key: MintedKey,
        through authority: MintedCertificate, isStreamed: Bool, hasAttributes: Bool
    ) throws -> [UInt8] {
        let error = MintError(failed: "a receipt")
        guard let signer = PEMText.read(certificate.pem, { PEM_read_bio_X509($0, nil, nil, nil) }) else {
            throw error
        }
        defer { X509_free(signer) }
        guard let other = PEMText.read(authority.pem, { PEM_read_bio_X509($0, nil, nil, nil) }) else {
            throw error
        }
        defer { X509_free(other) }
        guard let list = OPENSSL_sk_new_null() else { throw error }
        defer { OPENSSL_sk_free(list) }
        let (input, output) = (BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()))
        defer {
            BIO_free(input)
            BIO_free(output)
        }
        let count = Int32(content.count)
        guard OPENSSL_sk_push(list, UnsafeRawPointer(other)) > 0, BIO_write(input, content, count) == count
        else { throw error }
        let flags = CMS_BINARY | (hasAttributes ? 0 : CMS_NOATTR) | (isStreamed ? CMS_STREAM : 0)
        try key.withKey { key in
            guard let message = CMS_sign(signer, key, list, input, UInt32(flags)) else { throw error }
            defer { CMS_ContentInfo_free(message) }
            let isWritten =
                isStreamed
                ? i2d_CMS_bio_stream(output, message, input, flags) : i2d_CMS_bio(output, message)
            guard isWritten == 1 else { throw error }
        }
        let size = Int(BIO_ctrl_pending(output))
        return [UInt8](unsafeUninitializedCapacity: size) { bytes, count in
            count = max(0, Int(BIO_read(output, bytes.baseAddress, Int32(size))))
        }
    }
}
