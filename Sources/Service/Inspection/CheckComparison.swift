import AppleIdentity
import StrictJSON

/// The value that a failed check found and the value that it expected, as text.
struct CheckComparison: Equatable {
    let found: String
    let expected: String
}

extension CheckComparison {
    /// Creates the comparison for a failed check.
    ///
    /// - Parameters:
    ///   - content: The same token's content.
    ///   - keyIDs: The IDs of the usable keys; `nil` if the check comes before the key look-up.
    init(
        _ error: AppleTokenError, of content: TokenContent, in inspection: TokenInspection, keyIDs: [String]?
    ) {
        let leeway = inspection.policy.leeway
        let now = inspection.now
        let earliest =
            "later than \(now.advanced(bySeconds: -leeway).text) (now less \(leeway) seconds of leeway)"
        let latest =
            "no later than \(now.advanced(bySeconds: leeway).text) (now and \(leeway) seconds of leeway)"
        switch error.code {
        case .tokenTooLarge:
            self.init(found: "more", expected: "at most \(UnverifiedToken.longestToken) bytes")
        case .tokenMalformed:
            self.init(
                found: TokenContent.shown(error.detail),
                expected: error.step == .payload
                    ? "claims in strict JSON"
                    : "three segments of strict base64url, the first two of strict JSON")
        case .algorithmNotAllowed: self.init(found: content.headerText("alg"), expected: "RS256")
        case .keyIDInvalid:
            self.init(found: content.headerText("kid"), expected: "a string of 1 to 64 characters")
        case .headerNotAllowed:
            let forbidden = ["crit", "b64", "jwk", "jku", "x5u", "x5c"]
            self.init(
                found: forbidden.filter { content.header?[$0] != nil }.joined(separator: ", "),
                expected: "none of \(forbidden.joined(separator: ", "))")
        case .unknownKey:
            self.init(
                found: content.headerText("kid"),
                expected: keyIDs.map(Self.oneOf) ?? "a key of Apple's current set")
        case .signatureInvalid:
            self.init(
                found: "a signature that is not by this key",
                expected: "a signature by key \(content.headerText("kid"))")
        case .notAnIdentityToken:
            self.init(found: "events", expected: "an identity token, which has no events")
        case .notANotification: self.init(found: "no events", expected: "a notification, which has events")
        case .claimMissing:
            let missing = Self.required(of: inspection.kind).filter { content.claims?[$0] == nil }
            self.init(
                found: "no \(missing.joined(separator: ", no "))",
                expected: Self.required(of: inspection.kind).joined(separator: ", "))
        case .claimMalformed:
            self.init(
                found: "\(error.detail): \(content.text(error.detail))", expected: Self.type(of: error.detail)
            )
        case .tokenNotYetValid: self.init(found: content.text("nbf"), expected: latest)
        case .issuerMismatch:
            self.init(found: content.text("iss"), expected: Self.oneOf(inspection.policy.issuers))
        case .audienceMismatch:
            self.init(found: content.text("aud"), expected: Self.oneOf(inspection.policy.clientIDs))
        case .tokenExpired: self.init(found: content.text("exp"), expected: earliest)
        case .issuedInFuture:
            // The detail begins with the claim's name.
            let name = String(error.detail.prefix { $0 != "=" })
            self.init(
                found: "\(name): \(content.text(name == "event_time" ? "events" : name))", expected: latest)
        case .subjectInvalid:
            self.init(
                found: content.text("sub"), expected: "1 to 255 characters, none of them a control character")
        case .nonceMissing, .nonceMismatch:
            self.init(found: content.text("nonce"), expected: inspection.expectedNonces)
        case .codeHashMissing, .codeHashMismatch:
            self.init(
                found: content.text("c_hash"), expected: inspection.expectedHash(of: \.authorizationCode))
        case .accessTokenHashMissing, .accessTokenHashMismatch:
            self.init(found: content.text("at_hash"), expected: inspection.expectedHash(of: \.accessToken))
        case .eventsMalformed:
            self.init(
                found: "\(TokenContent.shown(error.detail)) in \(content.text("events"))",
                expected: "1 to 16 events, each with type, sub and event_time, in one of Apple's forms")
        }
    }

    private static func required(of kind: TokenKind) -> [String] {
        ["iss", "aud", "exp", "iat"] + (kind == .identityToken ? ["sub"] : [])
    }

    private static func type(of claim: String) -> String {
        switch claim {
        case "exp", "iat", "nbf", "auth_time":
            "whole seconds from 0 to \(NumericDate.validSeconds.upperBound)"
        case "email_verified", "is_private_email", "nonce_supported": "true or false"
        case "real_user_status": "a whole number"
        default: "a string"
        }
    }

    private static func oneOf(_ values: [String]) -> String {
        let text = values.map(TokenContent.shown).joined(separator: ", ")
        return values.count > 1
            ? "one of \(text)" : values.isEmpty ? "a usable key, of which there is none" : text
    }
}

extension TokenContent {
    fileprivate func headerText(_ name: String) -> String {
        header?[name].map { text($0, of: name) } ?? "none"
    }
}
