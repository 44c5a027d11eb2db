import CLibJWT
public import StrictJSON

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#else
    import Darwin
#endif

/// Signs JWTs with libjwt.
///
/// The program uses libjwt only for signing, because its `jwt_decode` accepts an HS256 token whose key is a
/// public PEM, and decodes each segment on the stack. libjwt never receives external data.
public enum JWTSigner {
    /// Signature algorithms of the fake Apple and the tests. Verifiers accept only one fixed algorithm.
    public enum Algorithm: String, Sendable, CaseIterable {
        case none, HS256, HS384, HS512, RS256, RS384, RS512, ES256, ES384, ES512
    }

    /// Returns a signed token in compact serialization. `key` is a PEM private key, or the secret for HS
    /// algorithms, or empty for `none`. `header` contains the header members other than `kid` and `alg`.
    /// libjwt always adds `typ`, which Apple's tokens do not have and verifiers ignore. Throws
    /// `.signingFailed` if libjwt fails.
    public static func sign(
        claims: JSONObject, keyID: String?, header: JSONObject = JSONObject(), algorithm: Algorithm,
        key: String
    ) throws(JOSEError) -> String {
        var token: OpaquePointer?
        guard jwt_new(&token) == 0, let token else { throw JOSEError(.signingFailed) }
        defer { jwt_free(token) }

        if let keyID, jwt_add_header(token, "kid", keyID) != 0 {
            throw JOSEError(.signingFailed, detail: "kid")
        }
        if !header.members.isEmpty, jwt_add_headers_json(token, Self.text(header)) != 0 {
            throw JOSEError(.signingFailed, detail: "header")
        }
        guard jwt_add_grants_json(token, Self.text(claims)) == 0 else {
            throw JOSEError(.signingFailed, detail: "claims")
        }
        let secret = Array(key.utf8)
        // libjwt refuses a key for `none`, but requires one for every other algorithm.
        let status =
            algorithm == .none
            ? jwt_set_alg(token, JWT_ALG_NONE, nil, 0)
            : jwt_set_alg(token, algorithm.libjwt, secret, Int32(secret.count))
        guard status == 0 else { throw JOSEError(.signingFailed, detail: "algorithm") }
        guard let encoded = jwt_encode_str(token) else { throw JOSEError(.signingFailed, detail: "key") }
        defer { free(encoded) }
        return String(cString: encoded)
    }

    private static func text(_ object: JSONObject) -> String {
        String(decoding: JSONValue.object(object).serialized(), as: UTF8.self)
    }
}

extension JWTSigner.Algorithm {
    fileprivate var libjwt: jwt_alg_t {
        switch self {
        case .none: JWT_ALG_NONE
        case .HS256: JWT_ALG_HS256
        case .HS384: JWT_ALG_HS384
        case .HS512: JWT_ALG_HS512
        case .RS256: JWT_ALG_RS256
        case .RS384: JWT_ALG_RS384
        case .RS512: JWT_ALG_RS512
        case .ES256: JWT_ALG_ES256
        case .ES384: JWT_ALG_ES384
        case .ES512: JWT_ALG_ES512
        }
    }
}
