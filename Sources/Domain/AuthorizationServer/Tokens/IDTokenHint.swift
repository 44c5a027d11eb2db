public import AppleAccounts
import Encodings
public import JOSE
import StrictJSON

/// An ID token that comes back as a hint: which user is meant (OpenID Connect Core §3.1.2.1), and which client
/// asks (OpenID Connect RP-Initiated Logout 1.0 §2).
///
/// A hint may have expired: clients keep the last ID token of a session for its end. So it proves nothing but
/// that this service has once issued it.
public struct IDTokenHint: Sendable, Hashable {
    public let clientID: OAuthClientID
    public let accountID: AccountID

    /// A text of unknown origin, with the form and the header of an ID token of this service.
    public struct Unverified: Sendable {
        fileprivate let jws: TypedJWS
        public var keyID: String { jws.keyID }

        /// Returns `nil` for a text that cannot be an ID token of this service, so that no key is looked up for
        /// it: also for an access token or a security event token, which have another `typ`.
        public init?(_ text: String) {
            guard let jws = try? TypedJWS(parsing: Array(text.utf8)),
                jws.type?.lowercased() == IDToken.type.description.lowercased()
            else { return nil }
            self.jws = jws
        }
    }

    /// Returns `nil` when the token is not genuine.
    public init?(_ token: Unverified, issuer: String, key: TokenVerificationKey) {
        guard token.jws.isSigned(by: key), let claims = try? JSONValue(parsing: token.jws.payload),
            claims["iss"]?.string?.isByteEqual(to: issuer) ?? false,
            let clientID = claims["aud"]?.string.flatMap({ OAuthClientID($0) }),
            let accountID = claims["sub"]?.string.flatMap({ AccountID($0) })
        else { return nil }
        (self.clientID, self.accountID) = (clientID, accountID)
    }
}

extension OAuthError {
    /// `id_token_hint` of an authorization request is no ID token of this service.
    public static let idTokenHintRefused = OAuthError(
        .invalidRequest,
        "The parameter id_token_hint must be an ID token of this service, expired or not; send another or none."
    )
}
