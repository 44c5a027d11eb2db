import AuthorizationServer

/// All texts of the pages at the authorization endpoint, in one language.
///
/// A word in braces stands for a value or a link, which `HTMLText` puts in. A test compares them between the
/// languages.
struct AuthorizeTexts: Sendable {
    let consent: Consent
    let refusals: Refusals
    /// `{code}`
    let errorCode: String
    let startAgain: String

    /// The page that asks.
    struct Consent: Sendable {
        /// `{client}`
        let title: String
        let titleForGoogle: String
        let signedInAs: String
        /// In place of name and address.
        let withoutName: String
        let useAnotherAccount: String
        /// `{client}`, `{hint}`
        let loginHint: String
        let purposeForGoogle: String
        /// `{client}`; the scopes follow as a list.
        let scopes: String
        let optionalScopes: String
        /// `{client}`, `{email}`
        let emailShared: String
        /// `{client}`, `{email}`
        let emailHidden: String
        /// `{client}`
        let emailUnknown: String
        /// `{client}`
        let emailNotShared: String
        /// `{policy}`: a link with `googlePolicyName`.
        let googlePolicy: String
        let googlePolicyName: String
        /// `{agree}`
        let authorizationForGoogle: String
        /// `{connections}`: a link with `googleConnectionsName`.
        let unlinkFromGoogle: String
        let googleConnectionsName: String
        let unlink: String
        /// `{target}`
        let returnsTo: String
        let agree: String
        let cancel: String
    }

    /// The pages that say why there is nothing to agree to.
    struct Refusals: Sendable {
        let unknownClient: Refusal
        let redirectURIMismatch: Refusal
        let requestMalformed: Refusal
        let embeddedBrowser: Refusal
        let formRefused: Refusal
        let signInNeeded: Refusal
    }

    struct Refusal: Sendable {
        let title: String
        /// What was expected, and what was found.
        let reason: String
        /// What to do.
        let advice: String
    }

    static func of(_ language: PageLanguage) -> AuthorizeTexts {
        switch language {
        case .english: .english
        case .arabic: .arabic
        case .turkish: .turkish
        case .polish: .polish
        }
    }
}
