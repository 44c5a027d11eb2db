public import AuthorizationServer

/// All texts of the pages at the authorization endpoint, in one language.
///
/// A word in braces is a placeholder for a value or a link, which
/// `HTML.filled` inserts. A test compares the words between the languages.
struct AuthorizeTexts: TranslatedTexts {
    static let part = "authorize"

    let consent: Consent
    let refusals: Refusals
    /// `{code}`
    let errorCode: String
    let startAgain: String
    /// `{client}`
    let backToClient: String

    /// Texts of the consent page.
    struct Consent: Sendable, Decodable {
        /// `{client}`, `{app}`
        let title: String
        /// `{client}`
        let titleForFirstParty: String
        /// `{app}`
        let titleForGoogle: String
        let signedInAs: String
        /// Text in place of name and address.
        let withoutName: String
        let useAnotherAccount: String
        /// `{client}`, `{hint}`
        let loginHint: String
        /// `{app}`
        let purposeForGoogle: String
        /// `{client}`; the scopes follow as a list.
        let scopes: String
        let optionalScopes: String
        /// `{email}`; below the scope.
        let emailHidden: String
        /// Text below the scope.
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
        /// `{target}`: an address of the user's own computer.
        let returnsToProgram: String
        let agreeAndLink: String
        let allow: String
        let goOn: String
        let cancel: String
    }

    /// Texts of the error pages: reasons why there is no consent page, or why a sign-in cannot continue.
    struct Refusals: Sendable, Decodable {
        let unknownClient: Refusal
        let redirectURIMismatch: Refusal
        let requestMalformed: Refusal
        let embeddedBrowser: Refusal
        let formRefused: Refusal
        let signInNeeded: Refusal
        /// The app's operator has disabled the account.
        let accountDisabled: Refusal
        let otherBrowser: Refusal
        let signInOver: Refusal
        let signInUnknown: Refusal
        let requestUnreadable: Refusal
        let unavailable: Refusal
        let failed: Refusal
        let pageUnknown: Refusal
        /// A link of App Flip that no app has opened.
        let linkOfApp: Refusal
    }

    struct Refusal: Sendable, Decodable {
        let title: String
        /// The expected value, and the found value.
        let reason: String
        /// The remedy.
        let advice: String
    }

    static func of(_ language: PageLanguage) -> AuthorizeTexts {
        switch language {
        case .english: .english
        case .arabic: .arabic
        case .turkish: .turkish
        case .polish: .polish
        case .other(let translation): translation[AuthorizeTexts.self]
        }
    }
}

/// The parts of all pages for users. A deployment translates each of them.
public enum PageTexts {
    public static let parts: [any TranslatedTexts.Type] = [
        AuthorizeTexts.self, ConnectionsTexts.self, DeviceTexts.self, LogoutTexts.self, ScopeTexts.self,
        AppFlipTexts.self,
    ]
}
