import AppAttestation
import AppleAccounts
import AppleIdentity
import AuthorizationServer
import Commits
import Cryptography
import Encodings
import JOSE
import KeySets
import Logging
import OAuth
import OAuthSamples
import SignIn
import StorageConformance
import StrictJSON
import TestSupport
import Testing
import TokenMint

@testable import Console

/// The services that pages of the console ask, over a store in memory. The mint plays Apple and Google.
struct InspectedWorld: Sendable {
    let store = ReferenceStore()
    let server: OAuthServer
    let keys: SigningKeys
    let inspector: TokenInspector
    let secretKey: ECPrivateKey
    let now = Moment(seconds: TokenMint.sampleTime + 180)

    static let team: TeamID = "A1B2C3D4E5"
    static let app: ClientID = "com.example.app"
    static let otherApp: ClientID = "com.example.other"

    init(
        appleKeys: (any VerificationKeys)? = nil, isDevelopment: Bool = false,
        appCheck: AppCheckPolicies = .none,
        _ change: (inout OAuthDraft) -> Void = { _ in }
    ) throws {
        let (store, moment) = (store, now)
        let now: @Sendable () -> Moment = { moment }
        let deployment = try Deployment(apps: [
            App(team: Self.team, primaryClientID: Self.app),
            App(team: Self.team, primaryClientID: Self.otherApp),
        ])
        let settings = try OAuthSample.settings(
            in: deployment, app: TokenMint.clientID, isDevelopment: isDevelopment, appCheck: appCheck, change)
        let mint = try PinnedKeySet(parsing: TokenMint.shared.keySet)
        let feed = EventFeed()
        let commits = GroupCommit<AccountCommand>(store: store, feed: feed)
        let policies = AppCheckPolicies(appCheck.all + settings.clients.clients.compactMap(\.appCheck))
        let signIn = SignInUseCases(
            deployment: deployment, policy: VerificationPolicy(clientIDs: []), keys: mint, store: store,
            commits: commits, feed: feed, tokenContext: AppleTokenContext(tokens: store),
            nonceKey: .sample(),
            appChecks: AppChecks(
                AppCheck(policies), root: .appleAppAttestation, deployment: deployment, store: store,
                commits: commits, nonceKey: .sample(), now: now), now: now)
        let key = try #require(SealingKey(name: "test", bytes: SHA256Digest.hash("test").bytes))
        keys = SigningKeys(
            for: settings, store: store, sealingKeys: try #require(SealingKeyRing([key])), signsEvents: true,
            now: now, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        server = OAuthServer(
            OAuthDependencies(
                settings: settings, deployment: deployment, store: store,
                commits: GroupCommit<GrantCommand>(store: store, feed: feed), signIn: signIn, keys: keys,
                googleKeys: mint, googleEventKeys: mint, now: now))
        let secretKey = try ECPrivateKey.generate()
        self.secretKey = secretKey
        inspector = TokenInspector(
            deployment: deployment, appleIssuers: [VerificationPolicy.appleIssuer],
            appleKeys: appleKeys ?? mint, store: store, roots: .apple, oauth: server,
            eventIssuer: OAuthSample.issuer, keys: keys
        ) { team in
            guard team == Self.team,
                let key = try? TokenVerificationKey(
                    jwk: .object(secretKey.publicKey.jwk(keyID: "KEY1234567")))
            else { return [:] }
            return ["KEY1234567": key]
        }
    }

    /// An operator of all apps, or of some.
    static func viewer(_ scope: AppScope = .all, isDevelopment: Bool = false) -> ConsoleViewer {
        ConsoleViewer(name: "ops", scope: scope, isDevelopment: isDevelopment, formToken: "form-token")
    }

    func request(
        _ form: [String: String] = [:], query: [String: String] = [:], parameters: [String: String] = [:],
        scope: AppScope = .all, isDevelopment: Bool = false
    ) -> ConsoleRequest {
        ConsoleRequest(
            requestID: "req-1", parameters: parameters, query: query, form: form,
            viewer: Self.viewer(scope, isDevelopment: isDevelopment),
            now: now)
    }

    /// Asks a page, and returns what it shows.
    static func html(_ answer: ConsoleAnswer) throws -> String {
        try #require(answer.html())
    }

    func inspect(
        _ text: String, kind: String = "", scope: AppScope = .all, _ more: [String: String] = [:],
        isDevelopment: Bool = false
    ) async throws -> ConsoleAnswer {
        let page = try #require(TokenPages(inspector).pages.first { $0.method == .post })
        let form = ["token": text, "kind": kind].merging(more) { $1 }
        return try await page.handle(request(form, scope: scope, isDevelopment: isDevelopment))
    }

    /// Gives an account of the store the tokens of a code of the client `shop`, in family 1.
    func grant(_ account: AccountID) async throws -> (grant: GrantRecord, token: RefreshTokenText) {
        let grant = try await store.authorize(.sample(account: account, client: "shop"))
        let token = RefreshTokenText(
            familyID: .sample(1), familySecret: Array(repeating: 1, count: RefreshTokenText.familySecretSize),
            generation: 0, secret: Array(repeating: 2, count: RefreshTokenText.secretSize))
        let sample = RedeemCommand.sample(client: "shop", isNative: false)
        try await store.redeem(
            RedeemCommand(
                codeDigest: sample.codeDigest, oauthClientID: "shop", redirectURI: sample.redirectURI,
                codeVerifier: nil, clientScopes: .sample, newFamilyID: .sample(1), isNative: false,
                refreshToken: token.newToken(forGoogle: false), needsOfflineAccess: false,
                familyExpiresAt: .last, accessTokenExpiresAt: .last,
                limits: FamilyLimits(perClient: 10, perAccount: 50), moment: sample.moment))
        return (grant, token)
    }

    func token(_ change: (inout JSONObject) -> Void = { _ in }) throws -> String {
        var claims = TokenMint.identityClaims()
        change(&claims)
        return try TokenMint.shared.sign(claims)
    }
}

extension [ConsolePage] {
    func page(_ method: ConsolePage.Method, _ path: String) throws -> ConsolePage {
        try #require(first { $0.method == method && $0.path == path })
    }
}

/// The forms in which the events of a notification can come. All of them are verified and kept.
enum NotificationForm: String, CaseIterable, Sendable {
    case textOfObject, textOfArray, object, array
    case indentedTextOfObject, indentedTextOfArray

    static let address = "relay7@hidden.example"
    static let masked = "r…@h…"

    /// A signed notification with an address.
    func token() throws -> String {
        let event = JSONValue.object(
            JSONObject([
                ("type", .string("email-disabled")), ("sub", .string(TokenMint.subject)),
                ("event_time", .integer(TokenMint.sampleTime * 1000)), ("email", .string(Self.address)),
                ("is_private_email", .string("true")),
            ]))
        var claims = TokenMint.notificationClaims()
        claims["events"] = events(event)
        return try TokenMint.shared.sign(claims)
    }

    private func events(_ event: JSONValue) -> JSONValue {
        func text(_ value: JSONValue, after space: String = "") -> JSONValue {
            .string(space + String(decoding: value.serialized(), as: UTF8.self))
        }
        return switch self {
        case .textOfObject: text(event)
        case .textOfArray: text(.array([event]))
        case .object: event
        case .array: .array([event])
        case .indentedTextOfObject: text(event, after: " \n\t")
        case .indentedTextOfArray: text(.array([event]), after: "\r\n ")
        }
    }
}
