import Foundation

/// The JSON that an app sends to its backend, in the forms of the usual libraries.
///
/// Accepts siwa's own names, the names of expo-apple-authentication, react-native-apple-authentication, Flutter's
/// sign_in_with_apple and the plugins of Capacitor and Unity, and those of Apple's script for web pages.
struct Form {
    /// The parameters of Google's universal link.
    static let link = [
        "client_id", "redirect_uri", "state", "scope", "user_locale", "accept_language", "code_challenge",
        "code_challenge_method",
    ]

    let members: [String: JSONValue]

    init(_ value: JSONValue) {
        members = value.object ?? [:]
    }

    /// The members with these names that have a value.
    func given(_ names: [String]) -> [String: JSONValue] {
        members.filter { names.contains($0.key) && $0.value != .null && $0.value != "" }
    }

    /// The members of a sign-in, without the user.
    ///
    /// - Throws: `member_missing` or `nonce_missing`.
    func signInMembers(mintedNonce: Bool) throws(SiwaError) -> [String: JSONValue] {
        let form = flattened()
        var result = form.given(["nonce", "attestation", "app_version"])
        let token = form.text(of: [
            "identity_token", "identityToken", "id_token", "_base64IdentityToken", "IdentityToken",
        ])
        guard let token, token.string != nil else {
            throw SiwaError(
                "member_missing", status: 400, detail: "The form needs the member identity_token, a text.")
        }
        // siwa limits only its own nonces to one sign-in. Without this check, a stolen token would pass together
        // with the digest that it contains.
        if mintedNonce, result["nonce"]?.string?.hasPrefix("siwa-nonce-") != true {
            throw SiwaError(
                "nonce_missing", status: 400, detail: "The form needs the nonce that makeNonce returned.")
        }
        result["identity_token"] = token
        result["authorization_code"] = form.text(of: [
            "authorization_code", "authorizationCode", "code", "_base64AuthorizationCode",
            "AuthorizationCode",
        ])
        return result
    }

    /// The member `user` of a sign-in: Apple's object, or the parts of it that a library has put elsewhere.
    func userMembers() -> [String: JSONValue] {
        let form = flattened()
        // In most libraries `user` is Apple's user ID.
        if let user = form.members["user"], user.object != nil || user.string?.hasPrefix("{") == true {
            return ["user": user]
        }
        let parts = form.given([
            "name", "fullName", "givenName", "familyName", "given_name", "family_name", "email", "_fullName",
            "_email", "FullName", "Email",
        ])
        return parts.isEmpty ? [:] : ["user": .object(parts)]
    }

    /// The form with the members of the object in which Capacitor or Apple's script wraps the credential.
    private func flattened() -> Form {
        var result = members
        for wrapper in ["response", "authorization"] {
            guard let inner = result[wrapper]?.object else { continue }
            result[wrapper] = nil
            result.merge(inner) { outer, _ in outer }
        }
        return Form(.object(result))
    }

    /// The first value. Token and code have dots; in base64, as Swift and Unity write bytes, they have none.
    private func text(of names: [String]) -> JSONValue? {
        guard let value = names.lazy.compactMap({ given([$0])[$0] }).first else { return nil }
        guard let text = value.string, !text.contains("."), let data = Data(base64Encoded: text),
            let plain = String(data: data, encoding: .ascii), plain.contains(".")
        else { return value }
        return .string(plain)
    }
}
