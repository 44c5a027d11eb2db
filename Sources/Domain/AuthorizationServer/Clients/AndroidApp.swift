/// An Android app, identified by its package name and its signing certificates.
public struct AndroidApp: Sendable, Hashable {
    /// The application ID, like `com.example.app`.
    public let package: String
    /// SHA-256 fingerprints of the signing certificates, in uppercase hexadecimal with colons.
    public let fingerprints: [String]

    /// Returns true for a valid application ID: at least two parts separated by dots, in at most 255
    /// characters. Each part consists of letters, digits and underscores, and begins with a letter.
    static func isPackage(_ text: String) -> Bool {
        let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        return text.utf8.count <= 255 && parts.count >= 2
            && parts.allSatisfy { part in
                part.first?.isLetter ?? false
                    && part.allSatisfy { $0.isLetter || $0.isDigit || $0 == UInt8(ascii: "_") }
            }
    }

    /// Returns the fingerprint in uppercase. Returns `nil` unless the text is 32 bytes in hexadecimal with
    /// colons between them, the form in which `keytool` and Google Play print fingerprints.
    static func fingerprint(_ text: String) -> String? {
        let bytes = text.utf8.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        guard bytes.count == 32, bytes.allSatisfy({ $0.count == 2 && $0.allSatisfy(isHexadecimal) }) else {
            return nil
        }
        return text.uppercased()
    }

    private static func isHexadecimal(_ byte: UInt8) -> Bool {
        byte.isDigit || (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte | 0x20)
    }
}

extension OAuthCheck {
    /// Reads a client's Android app. Returns `nil` if the client has none or its settings contain a mistake.
    mutating func androidApp(_ draft: ClientDraft, _ kind: ClientKind) -> AndroidApp? {
        // `checkMembers` already reports members that the kind does not have.
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
