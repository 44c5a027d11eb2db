import AppleAccounts
import AuthorizationServer
import Testing

/// SHA-256 of a certificate, as `keytool` prints it.
private let sampleFingerprint = Array(repeating: "AB:cd", count: 16).joined(separator: ":")

@Suite struct OAuthSettingsTests {
    /// Every mistake with a configuration that has only this mistake.
    static let mistakes: [(OAuthMistake.Code, OAuthDraft)] = [
        (.issuerMalformed, .sample { $0.issuer = "https://accounts.example.com/" }),
        (.issuerNotSecure, .sample { $0.issuer = "http://accounts.example.com" }),
        (.scopeMalformed, .scope { $0.name = "two words" }),
        (.scopeTwice, .sample { $0.scopes.append($0.scopes[0]) }),
        (.scopeTwice, .client { $0.scopes = ["openid", "openid"] }),
        (.scopeUnknown, .client { $0.scopes = ["openid", "lights"] }),
        (.noScopes, .client { $0.scopes = [] }),
        (.textMissing, .client { $0.name = ["tr": "\u{D6}rnek"] }),
        (.textMissing, .scope { $0.text = [:] }),
        (.textMalformed, .client { $0.name = ["en": "two\nlines"] }),
        (.textMalformed, .client { $0.name = ["en": String(repeating: "a", count: 61)] }),
        (.textMalformed, .client { $0.purpose = ["en": ""] }),
        (.languageUnknown, .client { $0.name = ["en": "Shop", "de": "Laden"] }),
        (.clientIDMalformed, .client { $0.id = "" }), (.clientIDMalformed, .client { $0.id = "my shop" }),
        (.clientIDMalformed, .client { $0.id = "shop:1" }),
        (.clientIDMalformed, .client { $0.id = String(repeating: "s", count: 129) }),
        (.clientIDMalformed, .client { $0.id = "sh\u{F6}p" }),
        (.clientIDTwice, .sample { $0.clients = [.nativeSample { $0.id = "shop" }, .sample()] }),
        (.kindUnknown, .client { $0.kind = "Web" }),
        (.memberOfOtherKind, .google { $0.isFirstParty = true }),
        (.memberOfOtherKind, .google { $0.events = "push" }),
        (.eventsMissing, .client { $0.eventTypes = ["grant_revoked"] }),
        (.eventsMissing, .client { $0.eventsURL = "https://shop.example.com/events" }),
        (.eventsUnknown, .client { $0.events = "pull" }),
        (.eventsURLMissing, .client { $0.events = "push" }),
        (.secretMissing, .native { $0.events = "poll" }),
        (
            .eventsURLUnused,
            .client { ($0.events, $0.eventsURL) = ("poll", "https://shop.example.com/events") }
        ),
        (.eventTypeUnknown, .client { ($0.events, $0.eventTypes) = ("poll", ["account_created"]) }),
        (.eventTypeUnknown, .client { ($0.events, $0.eventTypes) = ("poll", []) }),
        (.memberOfOtherKind, .client { $0.platform = "linux" }),
        (.memberOfOtherKind, .client { $0.allowsPlainPKCE = false }),
        (.memberOfOtherKind, .client { $0.projectID = "home-link-42" }),
        (.memberOfOtherKind, .client { $0.appFlip = false }),
        (.memberOfOtherKind, .client { $0.googleClientIDs = ["x"] }),
        (.memberOfOtherKind, .native { $0.appFlipBundleIDs = ["com.google.OPA"] }),
        (.memberOfOtherKind, .native { $0.appFlipTestRedirectURIs = ["https://test.example.com"] }),
        (.memberOfOtherKind, .client { $0.appFlipLinkPaths = ["/link/google/*"] }),
        (.appUnknown, .client { $0.app = "com.example.stranger" }),
        (.appNotPrimary, .client { $0.app = "com.example.web" }),
        (.appWithoutWebSignIn, .client { $0.app = "com.example.other" }),
        (.secretMissing, .client { $0.secretHashes = [] }),
        (.secretMissing, .google { $0.secretHashes = [] }),
        (.secretHashMalformed, .client { $0.secretHashes = ["siwa_cs_the-secret-itself"] }),
        (.secretHashMalformed, .native { $0.secretHashes = [String(repeating: "0", count: 62)] }),
        (
            .secretHashTwice,
            .sample {
                $0.clients = [
                    .sample(), .nativeSample { $0.secretHashes = [ClientDraft.hash(of: "shop-secret")] },
                ]
            }
        ),
        (.redirectURIMissing, .client { $0.redirectURIs = [] }),
        (.redirectURIRefused, .client { $0.redirectURIs = ["https://shop.example.com/cb#"] }),
        (.redirectURIRefused, .client { $0.redirectURIs = ["com.example.app:/cb"] }),
        (.redirectURIRefused, .client { $0.redirectURIs = ["http://127.0.0.1/cb"] }),
        (.redirectURIRefused, .native { ($0.platform, $0.redirectURIs) = ("ios", ["http://127.0.0.1/cb"]) }),
        (.redirectURITwice, .native { $0.redirectURIs = ["http://127.0.0.1/cb", "http://127.0.0.1/cb"] }),
        (.redirectURIRefused, .client { $0.postLogoutRedirectURIs = ["https://shop.example.com/a#"] }),
        (.redirectURIRefused, .client { $0.postLogoutRedirectURIs = ["com.example.app:/cb"] }),
        (
            .redirectURITwice,
            .client { $0.postLogoutRedirectURIs = Array(repeating: "https://a.example/b", count: 2) }
        ),
        (.memberOfOtherKind, .google { $0.postLogoutRedirectURIs = ["https://shop.example.com/cb"] }),
        (.redirectURIOfGoogle, .google { $0.redirectURIs = ["https://shop.example.com/cb"] }),
        (.testRedirectURIInProduction, .google { $0.appFlipTestRedirectURIs = ["https://test.example.com"] }),
        (.appFlipMissing, .google { ($0.appFlip, $0.appFlipBundleIDs) = (nil, ["com.google.Future"]) }),
        (.appFlipMissing, .google { ($0.appFlip, $0.appFlipLinkPaths) = (false, ["/link/google/*"]) }),
        (.platformUnknown, .native { $0.platform = "iOS" }),
        (.algorithmUnknown, .client { $0.accessTokenAlgorithm = "none" }),
        (.algorithmUnknown, .client { $0.idTokenAlgorithm = "HS256" }),
        (.audienceMalformed, .client { $0.audience = "api" }),
        (.audienceMalformed, .client { $0.audience = "https://api.example.com#x" }),
        (.lifetimeOutOfRange, .client { $0.codeLifetime = 601 }),
        (.lifetimeOutOfRange, .client { $0.accessTokenLifetime = 0 }),
        (.lifetimeOutOfRange, .client { $0.codeLifetime = 0 }),
        (.lifetimeOutOfRange, .client { $0.refreshTokenLifetime = .max }),
        (.lifetimeOutOfRange, .client { $0.refreshTokenIdleLifetime = -1 }),
        (.lifetimeOutOfRange, .client { $0.maxAuthenticationAge = -1 }),
        (.limitOutOfRange, .client { $0.refreshTokenLimit = 0 }),
        (.limitOutOfRange, .client { $0.refreshTokenLimit = 201 }),
        (.memberOfOtherKind, .native { $0.requiresPKCE = false }),
        (.memberOfOtherKind, .google { $0.requiresPKCE = false }),
        (.memberOfOtherKind, .client { $0.allowsLocalhost = true }),
        (.memberOfOtherKind, .google { $0.allowsLocalhost = true }),
        (.projectIDMissing, .google { $0.projectID = nil }),
        (.projectIDMalformed, .google { $0.projectID = "PROJECT_ID" }),
        (.projectIDMalformed, .google { $0.projectID = "../a" }),
        (.bundleIDMalformed, .google { $0.appFlipBundleIDs = ["com/google"] }),
        (.linkPathMalformed, .google { $0.appFlipLinkPaths = ["link/google/*"] }),
        (.linkPathMalformed, .google { $0.appFlipLinkPaths = ["/link/#google"] }),
        (.linkPathMalformed, .google { $0.appFlipLinkPaths = ["/link/\"google"] }),
        (.googleClientIDMalformed, .google { $0.googleClientIDs = [""] }),
        (.memberOfOtherKind, .client { $0.appCheck = "off" }),
        (.memberOfOtherKind, .google { $0.bundleID = "com.example.app" }),
        (.appCheckUnknown, .native { $0.appCheck = "Enforced" }),
        (.appCheckMissing, .native { $0.firstAttestingVersion = "4.2" }),
        (.bundleIDUnknown, .native { ($0.appCheck, $0.bundleID) = ("enforced", "com.example.other") }),
        (.bundleIDUnknown, .native { ($0.appCheck, $0.bundleID) = ("enforced", "com.example.*") }),
        (.appNotAttested, .native { ($0.appCheck, $0.bundleID) = ("monitored", "com.example.web") }),
        (.versionMalformed, .native { ($0.appCheck, $0.firstAttestingVersion) = ("monitored", "4.2-beta") }),
        (
            .redirectURIRefused,
            .native { ($0.platform, $0.redirectURIs) = ("android", ["com.example.app:/cb"]) }
        ),
        (.memberOfOtherKind, .client { $0.allowsCustomScheme = true }),
        (.logoUnreadable, .client { $0.logoFile = "missing.png" }),
        (.logoRefused, .client { $0.logoFile = "no-picture" }),
        (.linkMalformed, .client { $0.policyURI = "http://example.com/privacy" }),
        (.linkMalformed, .client { $0.policyURI = "javascript:alert(1)" }),
        (.linkMalformed, .client { $0.termsURI = "https://user@example.com/" }),
        (.linkMalformed, .client { $0.termsURI = "https://example.com/\"><script>" }),
        (.linkMalformed, .client { $0.termsURI = "https://" }),
        (.openIDMissing, .client { ($0.scopes, $0.impliesOpenID) = (["email"], true) }),
        (.memberOfOtherKind, .client { $0.androidPackage = "com.example.app" }),
        (.memberOfOtherKind, .client { $0.androidFingerprints = [sampleFingerprint] }),
        (.androidAppIncomplete, .google { $0.androidPackage = "com.example.app" }),
        (.androidAppIncomplete, .native { $0.androidFingerprints = [sampleFingerprint] }),
        (.androidPackageMalformed, .android("app", sampleFingerprint)),
        (.androidPackageMalformed, .android("com.example..app", sampleFingerprint)),
        (.androidPackageMalformed, .android("com.1example.app", sampleFingerprint)),
        (.androidPackageMalformed, .android("com.example.app\"", sampleFingerprint)),
        (.androidFingerprintMalformed, .android("com.example.app", "")),
        (.androidFingerprintMalformed, .android("com.example.app", String(sampleFingerprint.dropLast(3)))),
        (.androidFingerprintMalformed, .android("com.example.app", sampleFingerprint + ":00")),
        (
            .androidFingerprintMalformed,
            .android("com.example.app", sampleFingerprint.replacing("AB", with: "XY"))
        ),
        (.memberOfOtherKind, .client { $0.allowsNativeSignIn = true }),
        (.nativeSignInNotFirstParty, .native { $0.allowsNativeSignIn = true }),
        (.nativeSignInElsewhere, .nativeSignIn { ($0.platform, $0.redirectURIs) = ("android", []) }),
        (.nativeSignInElsewhere, .nativeSignIn { $0.platform = "linux" }),
        (.bundleIDUnknown, .nativeSignIn { $0.bundleID = "com.example.stranger" }),
        // The client ID of another app.
        (.bundleIDUnknown, .nativeSignIn { $0.bundleID = "com.example.other" }),
        (.bundleIDUnknown, .nativeSignIn { $0.bundleID = "" }),
        // App Check and the native sign-in have one bundle ID, and one mistake in it.
        (
            .bundleIDUnknown,
            .nativeSignIn { ($0.appCheck, $0.bundleID) = ("monitored", "com.example.stranger") }
        ),
        // With a redirect URI its users also sign in in the browser.
        (.appWithoutWebSignIn, .nativeSignIn { $0.app = "com.example.other" }),
        // The users of devices sign in in a browser.
        (
            .appWithoutWebSignIn,
            .native { ($0.app, $0.redirectURIs, $0.allowsDeviceGrant) = ("com.example.other", [], true) }
        ),
    ]

    @Test func `a client of devices needs no redirect URI`() throws {
        let draft = OAuthDraft.native { ($0.redirectURIs, $0.allowsDeviceGrant) = ([], true) }
        let settings = try OAuthSettings.sample(draft)
        let client = try #require(settings.clients.clients.first)
        #expect(client.allowsDeviceGrant && client.redirectURIs.isEmpty)
        #expect(client.nativeSignInBundleID == nil)
    }

    @Test func `a client that only exchanges identity tokens needs no redirect URI or Services ID`() throws {
        let draft = OAuthDraft.nativeSignIn { ($0.app, $0.redirectURIs) = ("com.example.other", []) }
        let settings = try OAuthSettings.sample(draft)
        let client = try #require(settings.clients.clients.first)
        #expect(client.nativeSignInBundleID == client.app)
        #expect(client.redirectURIs.isEmpty)
    }

    @Test func `a client exchanges identity tokens of the named bundle ID`() throws {
        let draft = OAuthDraft.nativeSignIn { $0.bundleID = "com.example.web" }
        let settings = try OAuthSettings.sample(draft)
        #expect(settings.clients.clients.first?.nativeSignInBundleID?.rawValue == "com.example.web")
    }

    @Test(
        arguments: [
            (["tr": "Örnek"], .textMissing), (["en": ""], .textMalformed), (["en": "a\nb"], .textMalformed),
            (["en": String(repeating: "a", count: 61)], .textMalformed),
            (["en": "Example", "de": "Beispiel"], .languageUnknown),
        ] as [([String: String], OAuthMistake.Code)])
    func `refuses an app's name that users cannot read`(name: [String: String], code: OAuthMistake.Code)
        throws
    {
        let draft = OAuthDraft.sample { $0.appNames = ["com.example.app": name] }
        let mistakes = try found(in: draft)
        #expect(mistakes.map(\.code) == [code] && mistakes.first?.setting == "teams.apps.name")
    }

    @Test func `an app without a name is called by the host of the issuer`() throws {
        let draft = OAuthDraft.sample { $0.appNames = ["com.example.other": ["en": "Other", "pl": "Inna"]] }
        let settings = try OAuthSettings.sample(draft)
        let apps = try OAuthContext.sample().deployment.apps.map(\.primaryClientID)
        let app = try #require(apps.first { $0.rawValue == "com.example.app" })
        let other = try #require(apps.first { $0.rawValue == "com.example.other" })
        #expect(settings.appName(of: app)[.polish] == "accounts.example.com")
        #expect(settings.appName(of: other)[.polish] == "Inna")
        #expect(settings.appName(of: other)[.arabic] == "Other")
    }

    @Test func `a client on Android has a custom scheme by choice, and pictures and links are read`() throws {
        let android = ClientDraft.nativeSample {
            $0.platform = "android"
            $0.redirectURIs = ["com.example.app:/cb"]
            $0.allowsCustomScheme = true
            $0.logoFile = "logo.svg"
            $0.policyURI = "https://example.com/privacy?x=1#y"
        }
        let settings = try OAuthSettings.sample(.sample { $0.clients = [android] })
        let client = try #require(settings.clients["desktop"])
        #expect(client.appearance.logo?.dataURL == "data:image/svg+xml;base64,PHN2Zy8+")
        #expect(client.appearance.policyURI == "https://example.com/privacy?x=1#y")
        #expect(client.appearance.termsURI == nil)
    }

    @Test(
        arguments: [
            ("email profile", true, "openid email profile"), ("profile", true, "openid profile"),
            ("email profile", false, "email profile"), ("openid email", true, "openid email"),
            ("email openid", true, "email openid"), ("offline_access", true, "offline_access"),
        ])
    func `identity scopes imply openid where the client says so`(
        scope: String, implies: Bool, result: String
    ) throws {
        let draft = OAuthDraft.client { $0.impliesOpenID = implies }
        let check = AuthorizationRequestCheck(try OAuthSettings.sample(draft))
        let challenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
        let query =
            "client_id=shop&redirect_uri=https://shop.example.com/cb&response_type=code&state=s"
            + "&code_challenge=\(challenge)&code_challenge_method=S256&scope=\(scope.replacing(" ", with: "%20"))"
        guard case .proceed(let request) = check.check(query.utf8, as: .query, userAgent: nil) else {
            Issue.record("refused")
            return
        }
        #expect(request.scopes.text == result)
    }

    @Test(arguments: mistakes)
    func `refuses a mistake with its code`(code: OAuthMistake.Code, draft: OAuthDraft) throws {
        let mistakes = try found(in: draft)
        #expect(mistakes.map(\.code) == [code], "\(mistakes)")
    }

    @Test func `has an example of every mistake`() {
        let shown = Set(Self.mistakes.map(\.0.rawValue))
        // It needs a deployment without a public URL, see below. The others are about files of texts, see
        // `TranslationTests` and `TextsDirectoryTests`.
        let elsewhere: Set = [
            "issuerMissing", "textsDirectoryUnreadable", "languageTagMalformed", "languageBuiltIn",
            "languagesTooMany", "translationUnreadable", "translationIncomplete", "translationUnknown",
            "translationPlaces",
        ]
        #expect(Set(OAuthMistake.Code.allCases.map(\.rawValue)).subtracting(shown) == elsewhere)
    }

    @Test(arguments: mistakes)
    func `says where it is, what was expected, and repeats no secret`(
        code: OAuthMistake.Code, draft: OAuthDraft
    ) throws {
        for mistake in try found(in: draft) {
            #expect(mistake.setting.hasPrefix("oauth."))
            #expect(mistake.text.utf8.count > 20)
            #expect(!mistake.description.contains("secret-itself"))
        }
    }

    @Test func `a fingerprint is kept in capital digits, and an app may have several`() throws {
        let draft = OAuthDraft.google {
            $0.androidPackage = "com.example.app_2"
            $0.androidFingerprints = [sampleFingerprint, sampleFingerprint.lowercased()]
        }
        let app = try #require(try OAuthSettings.sample(draft).clients["google"]?.androidApp)
        #expect(app.package == "com.example.app_2")
        #expect(app.fingerprints == Array(repeating: sampleFingerprint.uppercased(), count: 2))
    }

    @Test func `reports all mistakes at once`() throws {
        let draft = OAuthDraft.sample {
            $0.issuer = "http://accounts.example.com"
            $0.clients[0].redirectURIs = ["http://localhost/cb", "myapp:/cb"]
            $0.clients[1].platform = "amiga"
        }
        let mistakes = try found(in: draft)
        #expect(
            mistakes.map(\.code) == [
                .issuerNotSecure, .redirectURIRefused, .redirectURIRefused, .platformUnknown,
            ])
    }

    @Test func `without clients there is no authorization server`() throws {
        let draft = OAuthDraft.sample { $0.clients = [] }
        guard case .none = OAuthSettings.check(draft, in: try .sample(publicURL: nil)) else {
            Issue.record("has one")
            return
        }
    }

    @Test func `takes the public URL as the issuer, and needs one of them`() throws {
        #expect(try OAuthSettings.sample().issuer.text == "https://accounts.example.com")
        #expect(try found(in: .sample(), publicURL: nil).map(\.code) == [.issuerMissing])
    }

    @Test func `a development deployment may have http, and loopback for web clients`() throws {
        let draft = OAuthDraft.sample {
            ($0.issuer, $0.clients[0].redirectURIs) = ("http://127.0.0.1:8080", ["http://127.0.0.1:3000/cb"])
        }
        let settings = try OAuthSettings.sample(draft, isDevelopment: true)
        #expect(settings.clients["shop"]?.audience == "http://127.0.0.1:8080")
    }

    @Test(arguments: ["http://localhost:3000/cb", "http://localhost", "http://localhost/cb?tenant=1"])
    func `localhost is for web clients in development and native ones that ask for it`(uri: String) throws {
        let web = OAuthDraft.client { $0.redirectURIs = [uri] }
        #expect(try OAuthSettings.sample(web, isDevelopment: true).clients["shop"]?.redirectURIs.count == 1)
        #expect(try refusals(of: web) == [.redirectURIRefused])

        let native = OAuthDraft.native { ($0.redirectURIs, $0.allowsLocalhost) = ([uri], true) }
        #expect(try OAuthSettings.sample(native).clients["desktop"]?.redirectURIs.first?.form == .loopback)
        #expect(try refusals(of: .native { $0.redirectURIs = [uri] }) == [.redirectURIRefused])
        let onPhone = OAuthDraft.native {
            ($0.redirectURIs, $0.allowsLocalhost, $0.platform) = ([uri], true, "ios")
        }
        #expect(try refusals(of: onPhone) == [.redirectURIRefused])
    }

    @Test(arguments: [
        "http://LOCALHOST/cb", "http://localhost./cb", "http://app.localhost/cb", "http://localhost:0/cb",
        "http://localhost@example.com/cb", "http://localhost.example.com/cb", "https://localhost/cb",
        "http://localhost:3000/../cb",
    ])
    func `nothing else that looks like localhost is accepted`(uri: String) throws {
        let native = OAuthDraft.native { ($0.redirectURIs, $0.allowsLocalhost) = ([uri], true) }
        #expect(try refusals(of: native) == [.redirectURIRefused])
        let web = OAuthDraft.client { $0.redirectURIs = [uri] }
        #expect(try refusals(of: web, isDevelopment: true) == [.redirectURIRefused])
    }

    private func found(
        in draft: OAuthDraft, isDevelopment: Bool = false, publicURL: String? = "https://accounts.example.com"
    ) throws -> [OAuthMistake] {
        let context = try OAuthContext.sample(isDevelopment: isDevelopment, publicURL: publicURL)
        guard case .refused(let mistakes) = OAuthSettings.check(draft, in: context) else { return [] }
        return mistakes
    }

    private func refusals(of draft: OAuthDraft, isDevelopment: Bool = false) throws -> [OAuthMistake.Code] {
        try found(in: draft, isDevelopment: isDevelopment).map(\.code)
    }

    @Test func `a public client may have a loopback URI without a path`() throws {
        let desktop = try #require(try OAuthSettings.sample().clients["desktop"])
        #expect(desktop.redirectTarget(for: "http://127.0.0.1:51004")?.text == "http://127.0.0.1:51004")
    }
}

extension OAuthDraft {
    fileprivate static func android(_ package: String, _ fingerprint: String) -> OAuthDraft {
        native { ($0.androidPackage, $0.androidFingerprints) = (package, [fingerprint]) }
    }

    fileprivate static func scope(_ change: (inout ScopeDraft) -> Void) -> OAuthDraft {
        // A client that names the scope has no mistake of its own.
        sample {
            change(&$0.scopes[0])
            let name = $0.scopes[0].name
            $0.clients = [.sample { $0.scopes.append(name) }]
        }
    }

    fileprivate static func client(_ change: (inout ClientDraft) -> Void) -> OAuthDraft {
        sample { $0.clients = [.sample(change)] }
    }

    fileprivate static func native(_ change: (inout ClientDraft) -> Void) -> OAuthDraft {
        sample { $0.clients = [.nativeSample(change)] }
    }

    /// A client that exchanges identity tokens of its app, and has a redirect URI too.
    fileprivate static func nativeSignIn(_ change: (inout ClientDraft) -> Void) -> OAuthDraft {
        native {
            $0.isFirstParty = true
            $0.allowsNativeSignIn = true
            $0.redirectURIs = ["com.example.app:/oauth2redirect"]
            change(&$0)
        }
    }

    fileprivate static func google(_ change: (inout ClientDraft) -> Void) -> OAuthDraft {
        sample { $0.clients = [.googleSample(change)] }
    }
}
