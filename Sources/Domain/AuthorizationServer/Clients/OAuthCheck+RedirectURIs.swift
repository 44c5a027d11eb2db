extension OAuthCheck {
    /// Redirect URIs of a client. Google's follow from the project and the apps; other clients list their
    /// own.
    mutating func redirectURIs(
        of draft: ClientDraft, _ kind: ClientKind, _ particulars: ClientParticulars
    ) -> [RegisteredRedirectURI] {
        let setting = "oauth.clients.redirect_uris"
        guard let linking = particulars.googleLinking else {
            guard needsRedirectURIs(draft) else { return [] }
            return listed(
                draft.redirectURIs, of: draft, at: setting, rule: kind.redirectURIs,
                platform: particulars.platform)
        }
        if !draft.redirectURIs.isEmpty {
            add(
                .redirectURIOfGoogle, at: setting,
                "of \(draft.id) must be absent, because they follow from project_id and app_flip; remove them"
            )
        }
        return GoogleRedirectURIs.project(linking.projectID)
            + (linking.appFlip ? GoogleRedirectURIs.appFlip(linking.bundleIDs) + testURIs(of: draft) : [])
    }

    /// URIs to which a browser goes after the user has signed out. A client may have none.
    mutating func postLogoutRedirectURIs(
        of draft: ClientDraft, _ kind: ClientKind, _ particulars: ClientParticulars
    ) -> [RegisteredRedirectURI] {
        guard !draft.postLogoutRedirectURIs.isEmpty,
            ClientMember.postLogoutRedirectURIs.hasMeaning(for: kind)
        else { return [] }
        return listed(
            draft.postLogoutRedirectURIs, of: draft, at: "oauth.clients.post_logout_redirect_uris",
            rule: kind.redirectURIs, platform: particulars.platform)
    }

    private mutating func testURIs(of draft: ClientDraft) -> [RegisteredRedirectURI] {
        let setting = "oauth.clients.app_flip_test_redirect_uris"
        guard !draft.appFlipTestRedirectURIs.isEmpty else { return [] }
        // Errors are sent to the URIs of App Flip for any client, so in production they must be Google's own.
        guard context.isDevelopment else {
            add(
                .testRedirectURIInProduction, at: setting,
                "of \(draft.id) is only for SIWA_ENV=development; remove it in production")
            return []
        }
        return listed(
            draft.appFlipTestRedirectURIs, of: draft, at: setting, rule: .ofGoogle, platform: nil
        ).map { RegisteredRedirectURI(text: $0.text, form: .appFlip) }
    }

    /// A web application in development has only this name; a loopback address in production is refused
    /// later, with another text. For a native client the setting says that its library knows no literal
    /// address.
    private func allowsLocalhost(_ draft: ClientDraft, _ rule: RedirectURIRule) -> Bool {
        switch rule {
        case .ofServer: true
        case .ofInstalledApp: ClientMember.allowsLocalhost.value.flag(in: draft)
        case .ofGoogle: false
        }
    }

    private mutating func listed(
        _ texts: [String], of draft: ClientDraft, at setting: String, rule: RedirectURIRule,
        platform: NativePlatform?
    ) -> [RegisteredRedirectURI] {
        if texts.isEmpty {
            add(
                .redirectURIMissing, at: setting,
                "of \(draft.id) is missing; list every URI that the client uses")
        }
        var uris: [RegisteredRedirectURI] = []
        for text in texts {
            do throws(RedirectURIFault) {
                let uri = try RegisteredRedirectURI(
                    registering: text, allowsLocalhost: allowsLocalhost(draft, rule))
                try uri.check(
                    by: rule, on: platform, isDevelopment: context.isDevelopment,
                    allowsCustomScheme: ClientMember.allowsCustomScheme.value.flag(in: draft))
                if uris.contains(uri) {
                    add(.redirectURITwice, at: setting, "of \(draft.id) has \(text) twice; remove one")
                }
                uris.append(uri)
            } catch {
                add(
                    .redirectURIRefused, at: setting,
                    "of \(draft.id) has \(text.debugDescription). It \(error.reason)")
            }
        }
        return uris
    }
}
