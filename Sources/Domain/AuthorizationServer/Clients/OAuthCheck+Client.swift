import AppleAccounts

extension OAuthCheck {
    /// Reads the client's ID and kind. Returns `nil` if either is unusable.
    mutating func identity(of draft: ClientDraft) -> (id: OAuthClientID, kind: ClientKind)? {
        // None of these characters is escaped in a query, a form or HTTP Basic, so a client ID is spelled the
        // same way everywhere.
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
        return (id, kind)
    }

    mutating func app(of draft: ClientDraft) -> ClientID? {
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

    mutating func scopes(of draft: ClientDraft, in catalog: ScopeCatalog) -> ScopeSet? {
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

    mutating func secretHashes(of draft: ClientDraft, kind: ClientKind) -> [OAuthClientSecretHash] {
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
