extension OAuthCheck {
    /// Refuses settings that have no meaning for the kind. An ignored setting would look like a protection.
    mutating func checkMembers(of draft: ClientDraft, kind: ClientKind) {
        for member in ClientMember.all where !member.hasMeaning(for: kind) && member.value.isSet(in: draft) {
            add(
                .memberOfOtherKind, at: "oauth.clients.\(member.name)",
                "of \(draft.id) has no meaning for a client of kind \(kind.name); remove it")
        }
    }

    /// Reads what redirect URIs depend on. Returns `nil` after a mistake that leaves no client.
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
        // The project ID becomes a part of two URLs.
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

    /// A pattern for the member `/` of a component: `*` and `?` stand for any characters, and for one.
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
