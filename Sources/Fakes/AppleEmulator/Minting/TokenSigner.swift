import EmulatorServer
import JOSE
import StrictJSON

/// Signs claims as a compact JWS, valid or forged.
///
/// OpenSSL signs the exact bytes given to it. This is necessary, because Apple's tokens have only `kid` and
/// `alg` in the header, and the claims in Apple's order. libjwt signs tokens whose header has `typ`, because
/// it always writes `typ` and sorts the claims.
struct TokenSigner: ~Copyable {
    /// A key that was never published.
    private let stranger = DeferredKey()

    /// - Parameters:
    ///   - key: The key named in the header, unless the forgery names another key.
    ///   - otherKey: The key that signs when the forgery requests another published key.
    ///
    /// Throws `.tokenUnsignable`, `.keyGenerationFailed`, and `.noSigningKey` if another key was requested but none exists.
    func sign(
        _ honest: JSONObject, with key: SigningKey, otherKey: SigningKey?, forgery: Forgery
    ) async throws(EmulatorError) -> String {
        let signer = try await privateKey(
            for: forgery.signature, honest: try await key.privateKey, other: otherKey)
        let forged = forgery.applied(to: honest)
        let signed = forgery.signature == .otherClaims ? honest : forged
        var segments: JWSSegments
        do {
            segments =
                forgery.isForLibJWT
                ? try Self.signWithLibJWT(signed, key.keyID, signer, forgery)
                : try Self.signExactly(signed, key.keyID, signer, forgery)
        } catch {
            throw EmulatorError(.tokenUnsignable, detail: error.detail)
        }
        switch forgery.signature {
        case .valid, .otherKey, .wrongKey: break
        case .tampered:
            if !segments.signature.isEmpty { segments.signature[segments.signature.count / 2] ^= 1 }
        case .otherClaims: segments.payload = JSONValue.object(forged).serialized()
        case .missing: segments.signature = []
        }
        return segments.compact
    }

    private func privateKey(
        for kind: SignatureKind, honest: RSAPrivateKey, other: SigningKey?
    ) async throws(EmulatorError) -> RSAPrivateKey {
        switch kind {
        case .valid, .tampered, .otherClaims, .missing: return honest
        case .otherKey:
            guard let other else { throw EmulatorError(.noSigningKey, detail: "no other published key") }
            return try await other.privateKey
        case .wrongKey: return try await stranger.value
        }
    }

    private static func signExactly(
        _ claims: JSONObject, _ keyID: String, _ key: RSAPrivateKey, _ forgery: Forgery
    ) throws(JOSEError) -> JWSSegments {
        var segments = JWSSegments(
            header: JSONValue.object(forgery.header(naming: keyID)).serialized(),
            payload: JSONValue.object(claims).serialized())
        guard let hash = forgery.algorithm.hash else { return segments }
        segments.signature =
            forgery.algorithm.isKeyedWithPublicKey
            ? try MessageAuthenticationCode.make(
                for: segments.signingInput, secret: Array(key.publicKeyPEM.utf8), with: hash)
            : try key.signature(for: segments.signingInput, with: hash)
        return segments
    }

    private static func signWithLibJWT(
        _ claims: JSONObject, _ keyID: String, _ key: RSAPrivateKey, _ forgery: Forgery
    ) throws(JOSEError) -> JWSSegments {
        let secret = forgery.algorithm.isKeyedWithPublicKey ? key.publicKeyPEM : key.pem
        let token = try JWTSigner.sign(
            claims: claims, keyID: forgery.keyID ?? keyID, header: forgery.header,
            algorithm: forgery.algorithm.libjwt, key: secret)
        guard let segments = JWSSegments(compact: token) else {
            throw JOSEError(.signingFailed, detail: "libjwt did not write a compact token")
        }
        return segments
    }
}

/// The keys that can sign one token.
struct SigningKeys {
    let key: SigningKey
    /// Another published key; `nil` if there is none.
    let other: SigningKey?
    /// True if the forgery named `key`.
    var isNamed = false
}
