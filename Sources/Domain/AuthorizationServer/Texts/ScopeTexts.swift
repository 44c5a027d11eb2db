/// The texts of the built-in scopes, in one language.
public struct ScopeTexts: TranslatedTexts {
    public static let part = "scopes"

    let openid: String
    let profile: String
    let email: String
    let offlineAccess: String

    public static let english = ScopeTexts(
        openid: DeclaredScope.builtIn(.openID).text.english,
        profile: DeclaredScope.builtIn(.profile).text.english,
        email: DeclaredScope.builtIn(.email).text.english,
        offlineAccess: DeclaredScope.builtIn(.offlineAccess).text.english)

    /// `nil` for a scope that is not built in.
    func text(of token: ScopeToken) -> String? {
        let texts: [ScopeToken: String] = [
            .openID: openid, .profile: profile, .email: email, .offlineAccess: offlineAccess,
        ]
        return texts[token]
    }
}
