import JOSE
import Synchronization

/// Turns claims into a compact JWS, honest or forged. libjwt signs.
struct TokenSigner: ~Copyable {
    /// A key that was never published. Made when first needed, because making it takes a good part of a
    /// second.
    private let stranger = Mutex<RSAPrivateKey?>(nil)

    /// - Parameters:
    ///   - key: the key that the header names, unless the forgery names another.
    ///   - otherKey: signs instead when the forgery asks for another published key.
    ///
    /// Throws `.tokenUnsignable`, and `.noSigningKey` when another key is asked for and there is none.
    func sign(
        _ honest: JSONObject, with key: SigningKey, otherKey: SigningKey?, forgery: Forgery
    ) throws(EmulatorError) -> String {
        let signer = try privateKey(for: forgery.signature, honest: key.privateKey, other: otherKey)
        let secret = forgery.algorithm.isKeyedWithPublicKey ? signer.publicKeyPEM : signer.pem
        let namesKey = forgery.header["kid"] == nil && !forgery.removedHeader.contains("kid")
        let forged = forgery.applied(to: honest)
        var header = forgery.header
        for name in forgery.removedHeader + ["alg"] { header[name] = nil }
        let token: String
        do {
            token = try JWTSigner.sign(
                claims: forgery.signature == .otherClaims ? honest : forged,
                keyID: namesKey ? forgery.keyID ?? key.keyID : nil, header: header,
                algorithm: forgery.algorithm.signer,
                key: secret)
        } catch {
            throw EmulatorError(.tokenUnsignable, detail: "libjwt refused: \(error.detail)")
        }
        return try Self.spoil(token, forgery, shownClaims: forged)
    }

    private func privateKey(
        for kind: SignatureKind, honest: RSAPrivateKey, other: SigningKey?
    ) throws(EmulatorError) -> RSAPrivateKey {
        switch kind {
        case .valid, .tampered, .otherClaims, .missing: return honest
        case .otherKey:
            guard let other else { throw EmulatorError(.noSigningKey, detail: "no other published key") }
            return other.privateKey
        case .wrongKey:
            do {
                return try stranger.withLock { key throws(JOSEError) in
                    if let key { return key }
                    let made = try RSAPrivateKey.generate(bits: 2048)
                    key = made
                    return made
                }
            } catch {
                throw EmulatorError(.tokenUnsignable, detail: "no key could be made")
            }
        }
    }

    /// Does what libjwt does not write by itself.
    private static func spoil(
        _ token: String, _ forgery: Forgery, shownClaims: JSONObject
    ) throws(EmulatorError) -> String {
        var segments = token.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard segments.count == 3 else { throw EmulatorError(.tokenUnsignable, detail: "no compact token") }
        segments[0] = try header(segments[0], forgery)
        switch forgery.signature {
        case .valid, .otherKey, .wrongKey: break
        case .tampered:
            guard var signature = Base64URL.decode(segments[2]), !signature.isEmpty else {
                throw EmulatorError(.tokenUnsignable, detail: "no signature to tamper with")
            }
            signature[signature.count / 2] ^= 1
            segments[2] = Base64URL.encode(signature)
        case .otherClaims: segments[1] = Base64URL.encode(JSONValue.object(shownClaims).serialized())
        case .missing: segments[2] = ""
        }
        return segments.joined(separator: ".")
    }

    /// libjwt always writes the `alg` that it signs with. Where the forgery says otherwise the header is
    /// written anew, and the signature no longer fits it.
    private static func header(_ segment: String, _ forgery: Forgery) throws(EmulatorError) -> String {
        guard let bytes = Base64URL.decode(segment),
            case .object(let written)? = try? JSONValue(parsing: bytes)
        else {
            throw EmulatorError(.tokenUnsignable, detail: "the header is beyond what can be read back")
        }
        var header = written
        if let algorithm = forgery.header["alg"] { header["alg"] = algorithm }
        for name in forgery.removedHeader { header[name] = nil }
        return header == written ? segment : Base64URL.encode(JSONValue.object(header).serialized())
    }
}
