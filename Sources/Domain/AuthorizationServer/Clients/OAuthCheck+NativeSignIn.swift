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
    /// tokens needs no Services ID.
    func needsWebSignIn(_ draft: ClientDraft) -> Bool {
        needsRedirectURIs(draft) || ClientMember.allowsDeviceGrant.value.flag(in: draft)
    }

    /// Returns `true` for a client that uses the authorization endpoint. A client without redirect URIs
    /// exchanges identity tokens, or runs on devices whose users consent in another browser.
    func needsRedirectURIs(_ draft: ClientDraft) -> Bool {
        let isWithout =
            ClientMember.allowsNativeSignIn.value.flag(in: draft)
            || ClientMember.allowsDeviceGrant.value.flag(in: draft)
        return !isWithout || !draft.redirectURIs.isEmpty
    }
}
