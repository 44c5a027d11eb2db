public import AppAttestation
public import AppleAccounts
public import Encodings

/// Checks the `oauth` section and collects all mistakes in it.
struct OAuthCheck {
    let context: OAuthContext
    private(set) var mistakes: [OAuthMistake] = []
    /// The names of scopes whose declarations contain mistakes. A client that uses one is not reported again.
    private(set) var refusedScopes: Set<String> = []

    init(_ context: OAuthContext) {
        self.context = context
    }

    mutating func add(_ code: OAuthMistake.Code, at setting: String, _ text: String) {
        mistakes.append(OAuthMistake(code, at: setting, text))
    }

    mutating func issuer(_ draft: OAuthDraft) -> Issuer? {
        guard let text = draft.issuer ?? context.publicURL else {
            add(
                .issuerMissing, at: "oauth.issuer",
                "is missing, and SIWA_PUBLIC_URL too; set one of them to the origin that clients reach")
            return nil
        }
        do throws(OAuthMistake) {
            return try Issuer(text, isDevelopment: context.isDevelopment)
        } catch {
            mistakes.append(error)
            return nil
        }
    }

    mutating func catalog(of drafts: [ScopeDraft]) -> ScopeCatalog {
        var declared: [DeclaredScope] = []
        for draft in drafts {
            guard let token = ScopeToken(draft.name) else {
                add(
                    .scopeMalformed, at: "oauth.scopes.name",
                    "must have 1 to \(ScopeToken.longest) printable ASCII characters without space, quotation "
                        + "mark and backslash (RFC 6749 section 3.3); rename the scope")
                refusedScopes.insert(draft.name)
                continue
            }
            if declared.contains(where: { $0.token == token }) {
                add(.scopeTwice, at: "oauth.scopes", "has \(token.rawValue) twice; remove one")
            }
            let builtIn =
                ScopeToken.builtIn.contains(token)
                ? DeclaredScope.builtIn(token, in: context.languages).text : nil
            // A built-in scope keeps its texts if the configuration only makes it optional.
            let text =
                draft.text.isEmpty && builtIn != nil
                ? builtIn : text(draft.text, at: "oauth.scopes.text", of: token.rawValue, longest: 200)
            guard let text else {
                refusedScopes.insert(draft.name)
                continue
            }
            declared.append(
                DeclaredScope(
                    token: token, text: text, isOptional: ScopeDraft.isOptional.value.flag(in: draft)))
        }
        return ScopeCatalog(declared: declared, languages: context.languages)
    }

    mutating func appNames(_ draft: OAuthDraft) -> [ClientID: LocalizedText] {
        var names: [ClientID: LocalizedText] = [:]
        for (app, texts) in draft.appNames.sorted(by: { $0.key < $1.key }) {
            guard let app = ClientID(app) else { continue }
            names[app] = text(texts, at: "teams.apps.name", of: app.rawValue, longest: 60)
        }
        return names
    }

    /// Reads a user-facing text. English is required, because it is shown to users whose language has no
    /// text.
    mutating func text(_ texts: [String: String], at setting: String, of owner: String, longest: Int)
        -> LocalizedText?
    {
        var others: [PageLanguage: String] = [:]
        for (tag, text) in texts.sorted(by: { $0.key < $1.key }) {
            guard let language = context.languages.named(tag) else {
                let known = context.languages.all.map(\.rawValue).joined(separator: ", ")
                add(
                    .languageUnknown, at: setting,
                    "of \(owner) has the language \(tag); the pages have \(known); remove the others")
                continue
            }
            guard isReadable(text, longest: longest) else {
                add(
                    .textMalformed, at: setting,
                    "of \(owner) in \(tag) must have 1 to \(longest) characters in one line; rewrite it")
                continue
            }
            others[language] = text
        }
        guard let english = others[.english] else {
            if texts["en"] == nil {
                add(
                    .textMissing, at: setting,
                    "of \(owner) has no text in English, which users see whose language has none; add en")
            }
            return nil
        }
        return LocalizedText(english: english, others)
    }

    mutating func checkUniqueness(of drafts: [ClientDraft]) {
        var ids: Set<String> = []
        var hashes: Set<String> = []
        for draft in drafts {
            if !ids.insert(draft.id).inserted {
                add(.clientIDTwice, at: "oauth.clients.id", "\(draft.id) belongs to two clients; rename one")
            }
            for hash in draft.secretHashes where !hashes.insert(hash.lowercased()).inserted {
                // Anyone who knows a shared secret could authenticate as either client.
                add(
                    .secretHashTwice, at: "oauth.clients.secret_hashes",
                    "of \(draft.id) has a hash that occurs before; make a secret of its own with siwa client new"
                )
            }
        }
    }

    private func isReadable(_ text: String, longest: Int) -> Bool {
        (1...longest).contains(text.unicodeScalars.count)
            && text.unicodeScalars.allSatisfy { $0.properties.generalCategory != .control }
    }
}

/// Settings outside the `oauth` section that the checks of the section need.
public struct OAuthContext: Sendable {
    public let isDevelopment: Bool
    /// `SIWA_PUBLIC_URL`, which is the issuer unless the configuration sets `oauth.issuer`.
    public let publicURL: String?
    public let deployment: Deployment
    /// The primary client IDs of apps that have a Services ID with a web return URL.
    public let appsWithWebSignIn: Set<ClientID>
    /// The App Check policies of bundle IDs.
    public let appCheck: AppCheckPolicies
    /// The contents of the `logo_file` files, at least the first `ClientLogo.mostBytes` + 1 bytes of each.
    /// Unreadable files have no entry.
    public let logos: [String: [UInt8]]
    public let languages: PageLanguages

    public init(
        isDevelopment: Bool, publicURL: String?, deployment: Deployment, appsWithWebSignIn: Set<ClientID>,
        appCheck: AppCheckPolicies = .none, logos: [String: [UInt8]] = [:],
        languages: PageLanguages = .builtIn
    ) {
        self.languages = languages
        self.logos = logos
        self.isDevelopment = isDevelopment
        self.publicURL = publicURL
        self.deployment = deployment
        self.appsWithWebSignIn = appsWithWebSignIn
        self.appCheck = appCheck
    }
}

/// Reads numbers and checks their bounds.
extension OAuthCheck {
    /// Returns the number, or its default if the number is missing or out of bounds.
    mutating func number(_ member: DraftMember<OAuthDraft>, in draft: OAuthDraft) -> Int64 {
        number(member.value, in: draft, at: "oauth.\(member.name)", of: nil)
    }

    /// Returns the number, or its default if the number is missing or out of bounds.
    mutating func number(_ member: ClientMember, of draft: ClientDraft) -> Int64 {
        number(member.value, in: draft, at: "oauth.clients.\(member.name)", of: draft.id)
    }

    /// Returns the number of seconds, or `nil` if the number is missing or out of bounds.
    mutating func seconds(_ member: ClientMember, of draft: ClientDraft) -> Int64? {
        guard case .optionalSeconds(let path, let bounds) = member.value else {
            preconditionFailure("\(member.name) has a default, or is no number of seconds")
        }
        return checked(
            draft[keyPath: path], bounds, .seconds, at: "oauth.clients.\(member.name)", of: draft.id)
    }

    private mutating func number<Draft>(
        _ value: DraftValue<Draft>, in draft: Draft, at setting: String, of owner: String?
    ) -> Int64 {
        guard case .number(let path, let bounds, let unit, let standard) = value else {
            preconditionFailure("\(setting) is no number with a default")
        }
        return checked(draft[keyPath: path], bounds, unit, at: setting, of: owner) ?? standard
    }

    private mutating func checked(
        _ number: Int64?, _ bounds: ClosedRange<Int64>, _ unit: DraftUnit, at setting: String,
        of owner: String?
    ) -> Int64? {
        guard let number, !bounds.contains(number) else { return number }
        let code: OAuthMistake.Code =
            switch unit {
            case .seconds: .lifetimeOutOfRange
            case .refreshTokens: .limitOutOfRange
            }
        let client = owner.map { "of \($0) " } ?? ""
        add(
            code, at: setting,
            "\(client)must be from \(bounds.lowerBound) to \(bounds.upperBound) \(unit.rawValue), but is \(number)"
        )
        return nil
    }
}

/// A mistake in the `oauth` section of the configuration. Any mistake keeps the service from starting.
public struct OAuthMistake: CodedError {
    public enum Code: String, Sendable, CaseIterable {
        case issuerMissing, issuerMalformed, issuerNotSecure
        case scopeMalformed, scopeTwice, scopeUnknown, noScopes
        case textMissing, textMalformed, languageUnknown
        case clientIDMalformed, clientIDTwice, kindUnknown, memberOfOtherKind
        case appUnknown, appNotPrimary, appWithoutWebSignIn
        case secretMissing, secretHashMalformed, secretHashTwice
        case redirectURIMissing, redirectURIRefused, redirectURITwice, redirectURIOfGoogle
        case testRedirectURIInProduction, appFlipMissing
        case platformUnknown, algorithmUnknown, audienceMalformed, lifetimeOutOfRange, limitOutOfRange
        case projectIDMissing, projectIDMalformed, bundleIDMalformed, linkPathMalformed
        case googleClientIDMalformed
        case bundleIDUnknown, appCheckUnknown, appCheckMissing, appNotAttested, versionMalformed
        case logoUnreadable, logoRefused, linkMalformed, openIDMissing
        case textsDirectoryUnreadable, languageTagMalformed, languageBuiltIn, languagesTooMany
        case translationUnreadable, translationIncomplete, translationUnknown, translationPlaces
        case androidAppIncomplete, androidPackageMalformed, androidFingerprintMalformed
        case eventsMissing, eventsUnknown, eventsURLMissing, eventsURLUnused, eventTypeUnknown
        case nativeSignInNotFirstParty, nativeSignInElsewhere
    }

    public let code: Code
    /// Path of the setting, such as `oauth.clients.redirect_uris`.
    public let setting: String
    /// The expected value, the actual value, and the remedy. The text quotes configuration values, but never
    /// a secret or a hash.
    public let text: String

    public init(_ code: Code, at setting: String, _ text: String = "") {
        (self.code, self.setting, self.text) = (code, setting, text)
    }
}

extension OAuthMistake {
    public var description: String { "\(setting) \(text)" }
}
