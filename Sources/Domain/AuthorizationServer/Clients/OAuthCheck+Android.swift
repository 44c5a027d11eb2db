extension OAuthCheck {
    /// Reads the Android app of a client. `nil` without one, and after a mistake.
    mutating func androidApp(_ draft: ClientDraft, _ kind: ClientKind) -> AndroidApp? {
        // A member of another kind is a mistake of its own.
        guard ClientMember.androidPackage.hasMeaning(for: kind) else { return nil }
        guard let package = draft.androidPackage, !draft.androidFingerprints.isEmpty else {
            if draft.androidPackage != nil || !draft.androidFingerprints.isEmpty {
                add(
                    .androidAppIncomplete, at: "oauth.clients.android_package",
                    "of \(draft.id) and android_fingerprints belong together, but one of them is missing; add it"
                )
            }
            return nil
        }
        guard AndroidApp.isPackage(package) else {
            add(
                .androidPackageMalformed, at: "oauth.clients.android_package",
                "of \(draft.id) must be an application ID like com.example.app, but is \(package.debugDescription)"
            )
            return nil
        }
        let fingerprints = draft.androidFingerprints.compactMap { text in
            let fingerprint = AndroidApp.fingerprint(text)
            if fingerprint == nil {
                add(
                    .androidFingerprintMalformed, at: "oauth.clients.android_fingerprints",
                    "of \(draft.id) must be SHA-256 in 32 hexadecimal bytes with colons, as keytool prints it, but "
                        + "has \(text.debugDescription)")
            }
            return fingerprint
        }
        return AndroidApp(package: package, fingerprints: fingerprints)
    }
}
