import Encodings

/// The rule of RFC 8707 §2: a client can request tokens for its own audience only.
struct ResourceCheck {
    let audience: String

    /// Checks every `resource`: RFC 8707 allows several.
    func check(_ parameters: FormParameters) throws(OAuthError) {
        let resources = parameters.all(RequestParameter.resource.rawValue)
        guard resources.allSatisfy({ $0?.isByteEqual(to: audience) ?? false }) else {
            throw OAuthError(
                .invalidTarget, "The resource must be the audience of this client; leave resource out.")
        }
    }
}
