extension OAuthCheck {
    /// Refuses members that have no meaning for the kind, because an operator could believe that an ignored
    /// member protects the client.
    mutating func checkMembers(of draft: ClientDraft, kind: ClientKind) {
        for member in ClientMember.all where !member.hasMeaning(for: kind) && member.value.isSet(in: draft) {
            add(
                .memberOfOtherKind, at: "oauth.clients.\(member.name)",
                "of \(draft.id) has no meaning for a client of kind \(kind.name); remove it")
        }
    }

    /// Reads the values that determine the redirect URIs. Returns `nil` if a mistake makes the client
    /// unusable.
    mutating func particulars(of draft: ClientDraft, _ kind: ClientKind) -> ClientParticulars? {
        switch kind.redirectURIs {
        case .ofGoogle: googleLinking(draft).map { ClientParticulars(googleLinking: $0) }
        case .ofServer: ClientParticulars()
        case .ofInstalledApp: installedApp(draft)
        }
    }

    private mutating func installedApp(_ draft: ClientDraft) -> ClientParticulars? {
        guard let name = ClientMember.platform.value.word(in: draft) else { return ClientParticulars() }
        if let platform = NativePlatform(rawValue: name) { return ClientParticulars(platform: platform) }
        let known = NativePlatform.allCases.map(\.rawValue).joined(separator: ", ")
        add(
            .platformUnknown, at: "oauth.clients.platform",
            "of \(draft.id) must be one of \(known), but is \(name.debugDescription)")
        return nil
    }

    private mutating func googleLinking(_ draft: ClientDraft) -> GoogleLinking? {
        let appFlip = ClientMember.appFlip.value.flag(in: draft)
        let others = [
            draft.appFlipBundleIDs, draft.appFlipLinkPaths, draft.appFlipTestRedirectURIs,
            draft.androidFingerprints,
        ]
        if !appFlip, others.contains(where: { !$0.isEmpty }) {
            add(
                .appFlipMissing, at: "oauth.clients.app_flip",
                "of \(draft.id) must be true, because other settings of App Flip are there; add app_flip: true or "
                    + "remove them")
        }
        for id in draft.appFlipBundleIDs where !isBundleID(id) {
            add(
                .bundleIDMalformed, at: "oauth.clients.app_flip_bundle_ids",
                "of \(draft.id) must be a bundle ID of Google's app like com.google.Chromecast, but has "
                    + id.debugDescription)
        }
        for path in draft.appFlipLinkPaths where !isLinkPath(path) {
            add(
                .linkPathMalformed, at: "oauth.clients.app_flip_link_paths",
                "of \(draft.id) must be a path like /link/google/* of at most 255 characters, without a fragment, "
                    + "but has \(path.debugDescription)")
        }
        for id in draft.googleClientIDs
        where id.isEmpty || id.utf8.count > 255 || !id.utf8.allSatisfy(\.isUnreserved) {
            add(
                .googleClientIDMalformed, at: "oauth.clients.google_client_ids",
                "of \(draft.id) must be the aud of Google's tokens, like 123-abc.apps.googleusercontent.com, but "
                    + "has \(id.debugDescription)")
        }
        guard let projectID = draft.projectID else {
            add(
                .projectIDMissing, at: "oauth.clients.project_id",
                "of \(draft.id) is missing; copy the project ID from Google's console")
            return nil
        }
        // The project ID becomes part of two URLs, so it must not contain characters with a special meaning
        // in URLs.
        guard (1...63).contains(projectID.utf8.count),
            projectID.utf8.allSatisfy({ $0.isLetter || $0.isDigit || $0 == UInt8(ascii: "-") })
        else {
            add(
                .projectIDMalformed, at: "oauth.clients.project_id",
                "of \(draft.id) must have 1 to 63 letters, digits and hyphens, but is "
                    + "\(projectID.debugDescription); copy it from Google's console")
            return nil
        }
        let added = draft.appFlipBundleIDs.filter { !GoogleLinking.knownBundleIDs.contains($0) }
        return GoogleLinking(
            projectID: projectID, googleClientIDs: draft.googleClientIDs, appFlip: appFlip,
            bundleIDs: GoogleLinking.knownBundleIDs + added,
            linkPaths: ClientMember.appFlipLinkPaths.value.list(in: draft))
    }

    /// Returns true for a valid pattern for the `/` member of a component: `*` stands for any characters, and
    /// `?` for a single character.
    private func isLinkPath(_ text: String) -> Bool {
        text.utf8.first == UInt8(ascii: "/") && text.utf8.count <= 255
            && text.utf8.allSatisfy { $0.isURICharacter && $0 != UInt8(ascii: "#") }
    }

    private func isBundleID(_ text: String) -> Bool {
        text.utf8.count <= 155 && text.utf8.contains(UInt8(ascii: "."))
            && text.utf8.allSatisfy { $0.isLetter || $0.isDigit || "-.".utf8.contains($0) }
            && !text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
                .contains(where: \.isEmpty)
    }
}

/// A client's values that, together with its kind, determine its redirect URIs. `OAuthCheck` reads them.
struct ClientParticulars {
    var googleLinking: GoogleLinking?
    var platform: NativePlatform?
}

extension OAuthCheck {
    /// Returns a client's redirect URIs. Google's URIs are derived from the project and the apps; every other
    /// client lists its own URIs.
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

    /// Returns the URIs that a browser may be sent to after sign-out. The list may be empty.
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
        // App Flip URIs receive errors even for unknown clients, so in production they must belong to Google.
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

    /// Returns true if the client may use the name `localhost`. A web application in development has no other
    /// name; a later check with its own error text refuses loopback addresses in production. For a native
    /// client the setting means that its library does not support literal addresses.
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
