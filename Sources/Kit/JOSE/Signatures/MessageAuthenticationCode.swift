import COpenSSL

/// HMAC with the hash functions of HS256, HS384 and HS512 (RFC 7518 §3.2), for forged tokens in the fake
/// Apple and in tests.
public enum MessageAuthenticationCode {
    /// Throws `.signingFailed`.
    public static func make(
        for message: [UInt8], secret: [UInt8], with hash: HashFunction
    ) throws(JOSEError) -> [UInt8] {
        var count = 0
        let code = [UInt8](unsafeUninitializedCapacity: hash.size) { output, written in
            let isMade =
                EVP_Q_mac(
                    nil, "HMAC", nil, hash.name, nil, secret, secret.count, message, message.count,
                    output.baseAddress, output.count, &count) != nil
            written = isMade ? count : 0
        }
        guard !code.isEmpty else {
            ERR_clear_error()
            throw JOSEError(.signingFailed, detail: "HMAC with \(hash.name)")
        }
        return code
    }
}
