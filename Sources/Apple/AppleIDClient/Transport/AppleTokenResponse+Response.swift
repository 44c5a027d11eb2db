import StrictJSON

extension AppleTokenResponse {
    /// Reads a successful response of the token endpoint (RFC 6749 §5.1). Throws the matching error for any
    /// other response.
    init(_ response: AppleResponse) throws(AppleCallError) {
        let document = try response.json()
        guard let accessToken = document["access_token"]?.string, Self.isToken(accessToken),
            let type = document["token_type"]?.string, type.lowercased() == "bearer",
            let seconds = document["expires_in"]?.integer, (1...31_536_000).contains(seconds),
            Self.isTokenOrAbsent(document["refresh_token"]), Self.isTokenOrAbsent(document["id_token"])
        else {
            throw AppleCallError(.responseUnusable, detail: "no token response")
        }
        self.init(
            accessToken: accessToken, refreshToken: document["refresh_token"]?.string,
            identityToken: document["id_token"]?.string, expiresIn: .seconds(seconds))
    }

    /// Visible ASCII (RFC 6749 appendix A.12), and not longer than the longest token that a verifier accepts.
    private static func isToken(_ text: String) -> Bool {
        (1...16_000).contains(text.utf8.count)
            && text.utf8.allSatisfy { (UInt8(ascii: "!")...UInt8(ascii: "~")).contains($0) }
    }

    private static func isTokenOrAbsent(_ value: JSONValue?) -> Bool {
        guard let value else { return true }
        return value.string.map(isToken) ?? false
    }
}
