import AppleAccounts

extension OAuthCheck {
    /// Returns `nil` when a mistake makes the client unusable.
    mutating func client(_ draft: ClientDraft, scopes catalog: ScopeCatalog, defaultAudience: String)
        -> OAuthClient?
    {
        // These characters need no escape in a query, a form or HTTP Basic, so that a client ID has one
        // spelling there.
        guard draft.id.utf8.count <= 128, draft.id.utf8.allSatisfy(\.isUnreserved),
            let id = OAuthClientID(draft.id)
        else {
            add(
                .clientIDMalformed, at: "oauth.clients.id",
                "must have 1 to 128 characters of A-Z a-z 0-9 - . _ ~, but is \(draft.id.debugDescription); "
                    + "rename the client")
            return nil
        }
        guard let kind = ClientKind.named(draft.kind) else {
            let known = ClientKind.all.map(\.name).joined(separator: ", ")
            add(
                .kindUnknown, at: "oauth.clients.kind",
                "of \(draft.id) must be one of \(known), but is \(draft.kind.debugDescription)")
            return nil
        }
        checkMembers(of: draft, kind: kind)
        let app = app(of: draft)
        let name = text(draft.name, at: "oauth.clients.name", of: draft.id, longest: 60)
        let purpose =
            draft.purpose.isEmpty
            ? nil : text(draft.purpose, at: "oauth.clients.purpose", of: draft.id, longest: 300)
        let particulars = particulars(of: draft, kind)
        let scopes = scopes(of: draft, in: catalog)
        let appearance = appearance(of: draft)
        // What follows is checked also after a mistake, so that all mistakes are reported together. The bundle ID
        // is read once for both, so that a mistake is reported once.
        let belongsToBundleID =
            draft.bundleID != nil || ClientMember.allowsNativeSignIn.value.flag(in: draft)
        let usesBundleID = belongsToBundleID || draft.appCheck != nil
        let bundleID = usesBundleID ? app.flatMap { self.bundleID(of: draft, $0) } : nil
        let appCheck = appCheck(
            of: draft, id, kind, bundleID: bundleID, belongsToBundleID: belongsToBundleID)
        let impliesOpenID = ClientMember.impliesOpenID.value.flag(in: draft)
        if impliesOpenID, let scopes, !scopes.contains(.openID) {
            add(
                .openIDMissing, at: "oauth.clients.imply_openid",
                "of \(draft.id) needs the scope openid among scopes; add it, or remove imply_openid")
        }
        let nativeSignInBundleID = nativeSignInBundleID(of: draft, kind, bundleID: bundleID)
        let events = events(of: draft, kind)
        let secretHashes = secretHashes(of: draft, kind: kind)
        let redirectURIs = particulars.map { self.redirectURIs(of: draft, kind, $0) } ?? []
        let postLogoutRedirectURIs =
            particulars.map { self.postLogoutRedirectURIs(of: draft, kind, $0) } ?? []
        let androidApp = androidApp(draft, kind)
        let lifetimes = lifetimes(of: draft, kind: kind)
        let refreshRetryWindow = seconds(.refreshRetryWindow, of: draft)
        let refreshTokenLimit = number(.refreshTokenLimit, of: draft)
        let maxAuthenticationAge = seconds(.maxAuthenticationAge, of: draft)
        let audience = audience(of: draft, default: defaultAudience)
        let accessTokenAlgorithm = algorithm(.accessTokenAlgorithm, of: draft)
        let idTokenAlgorithm = algorithm(.idTokenAlgorithm, of: draft)
        guard let app, let name, let particulars, let scopes, let accessTokenAlgorithm, let idTokenAlgorithm
        else { return nil }
        return OAuthClient(
            id: id, kind: kind, googleLinking: particulars.googleLinking, androidApp: androidApp, app: app,
            name: name,
            purpose: purpose, appearance: appearance,
            isFirstParty: ClientMember.isFirstParty.value.flag(in: draft),
            secretHashes: secretHashes, scopes: scopes, impliesOpenID: impliesOpenID,
            redirectURIs: redirectURIs, postLogoutRedirectURIs: postLogoutRedirectURIs, lifetimes: lifetimes,
            refreshRetryWindow: refreshRetryWindow, refreshTokenLimit: Int(refreshTokenLimit),
            maxAuthenticationAge: maxAuthenticationAge,
            audience: audience, accessTokenAlgorithm: accessTokenAlgorithm,
            idTokenAlgorithm: idTokenAlgorithm,
            allowsPlainProofKeys: ClientMember.allowsPlainPKCE.value.flag(in: draft),
            proofKeyRule: ClientMember.requiresPKCE.value.flag(in: draft)
                ? kind.proofKeyRule : .requiredWithoutNonce,
            appCheck: appCheck, nativeSignInBundleID: nativeSignInBundleID,
            allowsDeviceGrant: ClientMember.allowsDeviceGrant.value.flag(in: draft),
            allowsHomeScreenApp: ClientMember.allowsHomeScreenApp.value.flag(in: draft), events: events)
    }

    private mutating func app(of draft: ClientDraft) -> ClientID? {
        guard let app = ClientID(draft.app).flatMap({ context.deployment.app(for: $0) }) else {
            add(
                .appUnknown, at: "oauth.clients.app",
                "of \(draft.id) must be the primary client ID of an app under teams, but is "
                    + "\(draft.app.debugDescription), which no app has")
            return nil
        }
        let primary = app.primaryClientID
        guard primary.rawValue == draft.app else {
            add(
                .appNotPrimary, at: "oauth.clients.app",
                "of \(draft.id) must be the primary client ID of the app; write \(primary.rawValue)")
            return nil
        }
        if needsWebSignIn(draft), !context.appsWithWebSignIn.contains(primary) {
            add(
                .appWithoutWebSignIn, at: "oauth.clients.app",
                "of \(draft.id) must have a Services ID with a web return URL, because users sign in with Apple "
                    + "in the browser; add web_redirect_url to \(primary.rawValue)")
        }
        return primary
    }

    private mutating func scopes(of draft: ClientDraft, in catalog: ScopeCatalog) -> ScopeSet? {
        let setting = "oauth.clients.scopes"
        var tokens: [ScopeToken] = []
        for name in draft.scopes {
            if let token = ScopeToken(name), catalog[token] != nil {
                tokens.append(token)
            } else if !refusedScopes.contains(name) {
                add(
                    .scopeUnknown, at: setting,
                    "of \(draft.id) names \(name.debugDescription), which is neither built in nor declared; add "
                        + "it to oauth.scopes")
            }
        }
        let set = ScopeSet(tokens)
        guard !draft.scopes.isEmpty, set.tokens.count <= ScopeSet.most,
            set.text.utf8.count <= ScopeSet.longest
        else {
            add(
                .noScopes, at: setting,
                "of \(draft.id) must have 1 to \(ScopeSet.most) scopes of \(ScopeSet.longest) bytes together, "
                    + "but has \(draft.scopes.count)")
            return nil
        }
        if set.tokens.count < tokens.count {
            add(.scopeTwice, at: setting, "of \(draft.id) has a scope twice; remove one")
        }
        return set
    }

    private mutating func secretHashes(of draft: ClientDraft, kind: ClientKind) -> [OAuthClientSecretHash] {
        let setting = "oauth.clients.secret_hashes"
        if draft.secretHashes.isEmpty, kind.isConfidential {
            add(
                .secretMissing, at: setting,
                "of \(draft.id) is missing, but a client of kind \(kind.name) has a secret; "
                    + "siwa client new prints one and its hash")
        }
        return draft.secretHashes.compactMap { text in
            if let hash = OAuthClientSecretHash(hexadecimal: text) { return hash }
            add(
                .secretHashMalformed, at: setting,
                "of \(draft.id) must be the SHA-256 of a secret in 64 hexadecimal digits; "
                    + "siwa client new prints a secret and its hash")
            return nil
        }
    }
}
