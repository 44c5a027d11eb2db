public import Encodings

/// A mistake in the section `oauth` of the configuration. The service does not start with one.
public struct OAuthMistake: CodedError {
    public enum Code: String, Sendable, CaseIterable {
        case issuerMissing, issuerMalformed, issuerNotSecure
        case scopeMalformed, scopeTwice, scopeUnknown, noScopes
        case textMissing, textMalformed, languageUnknown
        case clientIDMalformed, clientIDTwice, kindUnknown, memberOfOtherKind
        case appUnknown, appNotPrimary, appWithoutWebSignIn
        case secretMissing, secretHashMalformed, secretHashTwice
        case redirectURIMissing, redirectURIRefused, redirectURITwice, redirectURIOfGoogle
        case testRedirectURIInProduction, appFlipMissing
        case platformUnknown, algorithmUnknown, audienceMalformed, lifetimeOutOfRange, limitOutOfRange
        case projectIDMissing, projectIDMalformed, bundleIDMalformed, linkPathMalformed
        case googleClientIDMalformed
        case bundleIDUnknown, appCheckUnknown, appCheckMissing, appNotAttested, versionMalformed
        case logoUnreadable, logoRefused, linkMalformed, openIDMissing
        case textsDirectoryUnreadable, languageTagMalformed, languageBuiltIn, languagesTooMany
        case translationUnreadable, translationIncomplete, translationUnknown, translationPlaces
        case androidAppIncomplete, androidPackageMalformed, androidFingerprintMalformed
        case eventsMissing, eventsUnknown, eventsURLMissing, eventsURLUnused, eventTypeUnknown
        case nativeSignInNotFirstParty, nativeSignInElsewhere
    }

    public let code: Code
    /// Path of the setting, for example `oauth.clients.redirect_uris`.
    public let setting: String
    /// The expected value, the found value, and the remedy. The text repeats values of the configuration, but
    /// no secret and no hash.
    public let text: String

    public init(_ code: Code, at setting: String, _ text: String = "") {
        (self.code, self.setting, self.text) = (code, setting, text)
    }
}

extension OAuthMistake {
    public var description: String { "\(setting) \(text)" }
}
