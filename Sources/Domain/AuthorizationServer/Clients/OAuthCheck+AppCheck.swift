import AppAttestation
import AppleAccounts

extension OAuthCheck {
    /// Reads a native client's App Check policy. The stricter of two modes applies, the client's own mode or
    /// its bundle ID's mode, because the app with this bundle ID could otherwise use the client to get tokens
    /// without a proof. Returns `nil` if neither declares a mode or the settings contain a mistake.
    ///
    /// - Parameters:
    ///   - bundleID: The bundle ID; `nil` if it contains a mistake.
    ///   - belongsToBundleID: False for a client that declares only `app_check: off`, as programs and apps
    ///     for other systems do; its bundle ID is then merely the default, the primary client ID.
    mutating func appCheck(
        of draft: ClientDraft, _ id: OAuthClientID, _ kind: ClientKind, bundleID: ClientID?,
        belongsToBundleID: Bool
    ) -> AppCheckPolicy? {
        // `checkMembers` already refuses the member for clients of other kinds.
        guard ClientMember.appCheck.hasMeaning(for: kind) else { return nil }
        guard let text = draft.appCheck else {
            if draft.firstAttestingVersion != nil {
                add(
                    .appCheckMissing, at: "oauth.clients.app_check",
                    "of \(draft.id) is missing, but first_attesting_version is there; add app_check or remove it"
                )
            }
            return bundleID.flatMap { context.appCheck.ofApp($0.rawValue) }.flatMap { attested in
                attested.mode == .off
                    ? nil : policy(of: id, attested, declared: .off, atLeast: attested.mode)
            }
        }
        guard let mode = AppCheckMode(rawValue: text) else {
            let known = AppCheckMode.allCases.map(\.rawValue).joined(separator: ", ")
            add(
                .appCheckUnknown, at: "oauth.clients.app_check",
                "of \(draft.id) must be one of \(known), but is \(text.debugDescription)")
            return nil
        }
        guard let bundleID else { return nil }
        // An app's environment and platform are configured only once, with its bundle ID.
        guard let attested = context.appCheck.ofApp(bundleID.rawValue) else {
            add(
                .appNotAttested, at: "oauth.clients.app_check",
                "of \(draft.id) needs an entry of \(bundleID.rawValue) in app_attest of its app; add it, with "
                    + "app_check: off if only this client is to be checked")
            return nil
        }
        let first = draft.firstAttestingVersion.flatMap { AppVersion($0) }
        if let text = draft.firstAttestingVersion, first == nil {
            add(
                .versionMalformed, at: "oauth.clients.first_attesting_version",
                "of \(draft.id) must be \(AppVersion.form), like 4.2.1, but is \(text.debugDescription)")
        }
        return policy(
            of: id, attested, declared: mode,
            atLeast: belongsToBundleID || mode != .off ? attested.mode : .off, first)
    }

    private func policy(
        of id: OAuthClientID, _ attested: AppCheckPolicy, declared: AppCheckMode, atLeast mode: AppCheckMode,
        _ firstAttestingVersion: AppVersion? = nil
    ) -> AppCheckPolicy {
        AppCheckPolicy(
            target: .oauthClient(id: id.rawValue), appID: attested.appID, platform: attested.platform,
            mode: declared, environment: attested.environment,
            firstAttestingVersion: firstAttestingVersion ?? attested.firstAttestingVersion
        ).atLeast(mode)
    }

    /// Returns the bundle ID of the app that uses the client. It defaults to the primary client ID of the
    /// client's app.
    mutating func bundleID(of draft: ClientDraft, _ app: ClientID) -> ClientID? {
        guard let text = draft.bundleID else { return app }
        guard let bundleID = ClientID(text), context.deployment.app(for: bundleID)?.primaryClientID == app
        else {
            add(
                .bundleIDUnknown, at: "oauth.clients.bundle_id",
                "of \(draft.id) must be a client ID of the app \(app.rawValue), but is "
                    + "\(text.debugDescription); correct it, or add it to the client IDs of the app")
            return nil
        }
        return bundleID
    }
}

extension OAuthCheck {
    /// Returns the bundle ID whose identity tokens the client may exchange. Returns `nil` if the client may
    /// not exchange identity tokens.
    mutating func nativeSignInBundleID(
        of draft: ClientDraft, _ kind: ClientKind, bundleID: ClientID?
    ) -> ClientID? {
        // `checkMembers` already refuses the member for clients of other kinds.
        guard ClientMember.allowsNativeSignIn.hasMeaning(for: kind) else { return nil }
        guard ClientMember.allowsNativeSignIn.value.flag(in: draft) else { return nil }
        // Only first-party clients may exchange identity tokens, because the user sees Apple's sheet with the
        // app's name, but no consent page.
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

    /// Returns true if the client's users sign in with a browser. A client that only exchanges identity
    /// tokens needs no Services ID.
    func needsWebSignIn(_ draft: ClientDraft) -> Bool {
        needsRedirectURIs(draft) || ClientMember.allowsDeviceGrant.value.flag(in: draft)
    }

    /// Returns true if the client uses the authorization endpoint. A client without redirect URIs either
    /// exchanges identity tokens, or runs on devices whose users consent in another browser.
    func needsRedirectURIs(_ draft: ClientDraft) -> Bool {
        let isWithout =
            ClientMember.allowsNativeSignIn.value.flag(in: draft)
            || ClientMember.allowsDeviceGrant.value.flag(in: draft)
        return !isWithout || !draft.redirectURIs.isEmpty
    }
}
