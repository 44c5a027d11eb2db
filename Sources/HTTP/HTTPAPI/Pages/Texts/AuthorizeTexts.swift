public import AuthorizationServer

/// All texts of the authorization endpoint pages, in one language.
///
/// A word in braces is a placeholder for a value or a link, which `HTML.filled` inserts. A test checks that
/// all languages have the same placeholders.
struct AuthorizeTexts: TranslatedTexts {
    static let part = "authorize"

    let consent: Consent
    let refusals: Refusals
    /// Has the placeholder `{code}`.
    let errorCode: String
    let startAgain: String
    /// Has the placeholder `{client}`.
    let backToClient: String

    /// Texts of the consent page.
    struct Consent: Sendable, Decodable {
        /// Has the placeholders `{client}` and `{app}`.
        let title: String
        /// Has the placeholder `{client}`.
        let titleForFirstParty: String
        /// Has the placeholder `{app}`.
        let titleForGoogle: String
        let signedInAs: String
        /// Replaces the name and the address of a user who has neither.
        let withoutName: String
        let useAnotherAccount: String
        /// Has the placeholders `{client}` and `{hint}`.
        let loginHint: String
        /// Has the placeholder `{app}`.
        let purposeForGoogle: String
        /// Introduces the scope list. Has the placeholder `{client}`.
        let scopes: String
        let optionalScopes: String
        /// Shown after the `email` scope. Has the placeholder `{email}`.
        let emailHidden: String
        /// Shown after the `email` scope if the user's address is unknown.
        let emailUnknown: String
        /// Has the placeholder `{client}`.
        let emailNotShared: String
        /// Has the placeholder `{policy}` for a link with the text `googlePolicyName`.
        let googlePolicy: String
        let googlePolicyName: String
        /// Has the placeholder `{agree}`.
        let authorizationForGoogle: String
        /// Has the placeholder `{connections}` for a link with the text `googleConnectionsName`.
        let unlinkFromGoogle: String
        let googleConnectionsName: String
        let unlink: String
        /// Has the placeholder `{target}`.
        let returnsTo: String
        /// Has the placeholder `{target}` for an address on the user's own computer.
        let returnsToProgram: String
        let agreeAndLink: String
        let allow: String
        let goOn: String
        let cancel: String
    }

    /// Texts of the error pages, which explain why the consent page does not appear or why a sign-in cannot
    /// continue.
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
        /// An App Flip link was opened in the browser, because no app has opened it.
        let linkOfApp: Refusal
    }

    struct Refusal: Sendable, Decodable {
        let title: String
        /// Explains the expected value and the value found.
        let reason: String
        /// The text that explains the remedy.
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

/// The groups of texts for all user pages. A deployment can translate each group.
public enum PageTexts {
    public static let parts: [any TranslatedTexts.Type] = [
        AuthorizeTexts.self, ConnectionsTexts.self, DeviceTexts.self, LogoutTexts.self, ScopeTexts.self,
        AppFlipTexts.self,
    ]
}
