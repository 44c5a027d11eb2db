import EmulatorServer
import StrictJSON

extension Forgery {
    /// Refuses a forgery without effect, so that a misspelled name is not mistaken for a forgery.
    ///
    /// - Parameters:
    ///   - honest: The claims before the forgery.
    ///   - hasNamedKey: True if `keyID` names an existing key, which then signs.
    ///
    /// Throws `.memberIneffective`.
    func checkEffect(on honest: JSONObject, hasNamedKey: Bool) throws(EmulatorError) {
        try Self.checkRemoval(
            of: removedClaims, "remove_claims", from: honest, beside: claims, "claims")
        try Self.checkRemoval(
            of: removedHeader, "remove_header", from: Forgery().header(naming: ""), beside: header, "header")
        try checkKey(hasNamedKey: hasNamedKey)
        try checkSignature(honest)
    }

    /// Checks names to remove. Each name must be present before the forgery, must be given once, and must not
    /// be added by the forgery.
    static func checkRemoval(
        of names: [String], _ member: String, from honest: JSONObject, beside added: JSONObject,
        _ addition: String
    ) throws(EmulatorError) {
        var rest = honest
        for name in names {
            guard added[name] == nil else {
                throw EmulatorError(
                    .memberIneffective, detail: "\(member): \(addition) sets \(name.prefix(64)) as well")
            }
            guard rest[name] != nil else {
                let there = honest.members.map(\.name).joined(separator: ", ")
                throw EmulatorError(
                    .memberIneffective,
                    detail: "\(member): \(name.prefix(64)) cannot be removed, there are only \(there)")
            }
            rest[name] = nil
        }
    }

    /// Checks the key ID, which must choose the signing key or appear in the header.
    private func checkKey(hasNamedKey: Bool) throws(EmulatorError) {
        guard keyID != nil else { return }
        let isShown = header["kid"] == nil && !removedHeader.contains("kid")
        let chooses = hasNamedKey && algorithm != .none && signature != .wrongKey
        guard isShown || chooses else {
            throw EmulatorError(
                .memberIneffective,
                detail: "kid: has no effect: it names no key, and the header does not contain it")
        }
    }

    private func checkSignature(_ honest: JSONObject) throws(EmulatorError) {
        guard algorithm != .none || signature == .valid else {
            throw EmulatorError(.memberIneffective, detail: "signature: has no effect with alg none")
        }
        guard signature != .otherClaims || applied(to: honest) != honest else {
            throw EmulatorError(
                .memberIneffective,
                detail: "signature: other_claims needs claims or remove_claims that change something")
        }
    }
}
