import StrictJSON

extension Forgery {
    /// Refuses what would change nothing, so that a misspelled name is found out and not taken for a forgery.
    ///
    /// - Parameters:
    ///   - honest: the claims before the forgery.
    ///   - hasNamedKey: whether `keyID` names a key, which then signs.
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

    /// Each name must be there without the forgery, once, and must not be added by it.
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
                    detail: "\(member): no \(name.prefix(64)) to remove; there are \(there)")
            }
            rest[name] = nil
        }
    }

    /// A key ID chooses the key that signs, or is shown in the header, or both.
    private func checkKey(hasNamedKey: Bool) throws(EmulatorError) {
        guard keyID != nil else { return }
        let isShown = header["kid"] == nil && !removedHeader.contains("kid")
        let chooses = hasNamedKey && algorithm != .none && signature != .wrongKey
        guard isShown || chooses else {
            throw EmulatorError(
                .memberIneffective, detail: "kid: it chooses no key, and the header does not show it")
        }
    }

    private func checkSignature(_ honest: JSONObject) throws(EmulatorError) {
        guard algorithm != .none || signature == .valid else {
            throw EmulatorError(.memberIneffective, detail: "signature: a token with alg none has none")
        }
        guard signature != .otherClaims || applied(to: honest) != honest else {
            throw EmulatorError(
                .memberIneffective,
                detail: "signature: other_claims needs claims or remove_claims that change something")
        }
    }
}
