import AppleAccounts

extension OAuthCheck {
    /// Returns the bundle ID whose identity tokens the client may exchange; `nil` for a client that may not
    /// exchange any.
    mutating func nativeSignInBundleID(
        of draft: ClientDraft, _ kind: ClientKind, bundleID: ClientID?
    ) -> ClientID? {
        // A client of another kind is refused for the member itself.
        guard ClientMember.allowsNativeSignIn.hasMeaning(for: kind) else { return nil }
        guard ClientMember.allowsNativeSignIn.value.flag(in: draft) else { return nil }
        // The user sees Apple's sheet with the name of the app, and no page that asks for consent.
        if !ClientMember.isFirstParty.value.flag(in: draft) {
            add(
                .nativeSignInNotFirstParty, at: "oauth.clients.first_party",
                "of \(draft.id) must be true for allow_native_sign_in, because no page asks the user for "
                    + "consent; add first_party: true if the client is the app itself")
        }
        if let platform = ClientMember.platform.value.word(in: draft).flatMap({ NativePlatform(rawValue: $0) }
        ),
            !platform.hasSignInWithApple
        {
            add(
                .nativeSignInElsewhere, at: "oauth.clients.platform",
                "of \(draft.id) must be ios or macos for allow_native_sign_in, but is "
                    + "\(platform.rawValue), where apps have no Sign in with Apple without a browser")
        }
        return bundleID
    }

    /// Returns `true` for a client whose users sign in in a browser. A client that only exchanges identity
    /// tokens needs neither redirect URIs nor a Services ID.
    func needsWebSignIn(_ draft: ClientDraft) -> Bool {
        !ClientMember.allowsNativeSignIn.value.flag(in: draft) || !draft.redirectURIs.isEmpty
    }
}
