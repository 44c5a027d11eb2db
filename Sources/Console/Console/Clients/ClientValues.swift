import AppAttestation
import AppleAccounts
import AuthorizationServer
import Encodings
import EventDelivery
import OAuth

/// A client as its page shows it.
struct ClientValues: Sendable {
    struct Fact: Sendable {
        let name: String
        let text: String
    }

    struct Refusal: Sendable {
        let reason: String
        let count: Int
        let explanation: String
    }

    struct Guesses: Sendable {
        let address: String
        let wrong: String
        let style: String
        let state: String

        init(_ guesses: SecretGuesses) {
            address = guesses.network?.text ?? "unknown addresses"
            wrong = guesses.wrong == 1 ? "one wrong secret" : "\(guesses.wrong) wrong secrets"
            style = guesses.isSlowed ? "warn" : "muted"
            state =
                if let pause = guesses.pause {
                    "the next one must wait \(pause) s"
                } else if guesses.isSlowed {
                    "slowed: the next one begins a pause"
                } else {
                    "not slowed yet"
                }
        }
    }

    /// Number of judged requests of a kind.
    struct JudgedRequests: Sendable {
        let kind: String
        let count: Int64
        let explanation: String

        init(_ kind: AppCheckKind, _ count: Int64) {
            self.count = count
            (self.kind, explanation) =
                switch kind {
                case .verified: ("verified", "with a proof that holds")
                case .outdatedApp: ("outdated app", "without a proof, from a version that makes none")
                case .unknownOrigin: ("unknown origin", "without a proof otherwise")
                case .invalid: ("invalid", "with a proof that does not hold")
                }
        }
    }

    /// A field of Google's console, and what to type there.
    struct Field: Sendable {
        let name: String
        let value: String
        let number: Int
    }

    let id: String
    let name: String
    let facts: [Fact]
    let redirectURIs: [String]
    let countOfURIs: Int
    /// Google's clients have more than a dozen.
    let hasFewURIs: Bool
    let grants: Int
    let families: Int
    let isSample: Bool
    let most: Int
    let hasRefusals: Bool
    let refusals: [Refusal]
    let isJudged: Bool
    let judged: [JudgedRequests]
    let hasGuesses: Bool
    let guesses: [Guesses]
    let otherAddresses: Int?
    let hasLinks: Bool
    let links: [LinkValues]
    let hasMoreLinks: Bool
    let moreLinks: [LinkValues]
    let hasProofKey: Bool
    let verifier = AuthorizeLink.exampleVerifier
    let isForGoogle: Bool
    let fields: [Field]
    let preview: PreviewValues?

    /// Number of addresses with wrong secrets that the page names.
    private static let mostAddresses = 20
    /// Number of links above the fold.
    private static let fewLinks = 2

    init(
        _ client: OAuthClient, settings: OAuthSettings, usage: ClientUsage, refusals: [Refusal],
        guesses: [SecretGuesses], stream: EventStreams.ClientStream?,
        links: [AuthorizeLink], appCheck: AppCheckCoverage.Client?, appCheckCounts: AppCheckTally?,
        preview: PreviewValues?, masksURLs: Bool
    ) {
        (id, name) = (client.id.rawValue, client.name.english)
        facts = Self.facts(client, stream, appCheck, masksURLs: masksURLs)
        redirectURIs = client.redirectURIs.map(\.text)
        (countOfURIs, hasFewURIs) = (redirectURIs.count, redirectURIs.count <= 4)
        (grants, families) = (usage.grants[client.id] ?? 0, usage.families[client.id] ?? 0)
        isSample = usage.isSampleOfGrants || usage.isSampleOfFamilies
        most = ClientPages.countedRows
        (hasRefusals, self.refusals) = (!refusals.isEmpty, refusals)
        isJudged = appCheckCounts != nil
        judged =
            appCheckCounts.map { tally in
                AppCheckKind.allCases.map { JudgedRequests($0, tally[$0]) }
            } ?? []
        hasGuesses = !guesses.isEmpty
        self.guesses = guesses.prefix(Self.mostAddresses).map(Guesses.init)
        otherAddresses = guesses.count > Self.mostAddresses ? guesses.count - Self.mostAddresses : nil
        let shown = links.enumerated().map { LinkValues($1, number: $0 + 1) }
        self.links = Array(shown.prefix(Self.fewLinks))
        moreLinks = Array(shown.dropFirst(Self.fewLinks))
        (hasLinks, hasMoreLinks) = (!shown.isEmpty, !moreLinks.isEmpty)
        hasProofKey = links.contains(where: \.hasProofKey)
        isForGoogle = client.googleLinking != nil
        fields = client.googleLinking.map { Self.fields(client, $0, settings.issuer) } ?? []
        self.preview = preview
    }

    private static func facts(
        _ client: OAuthClient, _ stream: EventStreams.ClientStream?, _ appCheck: AppCheckCoverage.Client?,
        masksURLs: Bool
    ) -> [Fact] {
        var facts = [
            Fact(name: "Kind", text: client.kind.name), Fact(name: "App", text: client.app.rawValue),
            Fact(name: "Scopes", text: client.scopes.text), Fact(name: "Audience", text: client.audience),
            Fact(
                name: "Secrets",
                text: client.secretHashes.isEmpty
                    ? "none: a public client" : "\(client.secretHashes.count)"),
            Fact(
                name: "Proof keys (PKCE)",
                text: words(of: client.proofKeyRule)),
            Fact(name: "Code expires after", text: Self.duration(client.lifetimes.code)),
            Fact(name: "Access token expires after", text: Self.duration(client.lifetimes.accessToken)),
            Fact(name: "Refresh token expires", text: Self.expiry(client.lifetimes)),
            Fact(name: "Refresh tokens", text: "at most \(client.refreshTokenLimit) for one account"),
            Fact(name: "Device grant", text: client.mayUse(.deviceCode) ? "allowed" : "not allowed"),
            Fact(name: "First party", text: client.isFirstParty ? "yes" : "no"),
        ]
        if let bundleID = client.nativeSignInBundleID {
            facts.append(Fact(name: "Native sign-in", text: bundleID.rawValue))
        }
        if let appCheck {
            facts.append(Fact(name: "App Check", text: appCheck.explanation))
        }
        if let google = client.googleLinking {
            facts.append(Fact(name: "Google project", text: google.projectID))
            facts.append(Fact(name: "App Flip", text: google.appFlip ? "on" : "off"))
        }
        if let stream {
            let delivery: String
            switch stream.delivery {
            case .push(let url): delivery = "pushed to \(masksURLs ? MaskedURL.text(url) : url)"
            case .poll: delivery = "polled by the client"
            }
            facts.append(Fact(name: "Event stream", text: delivery))
            facts.append(
                Fact(
                    name: "Events of the stream",
                    text: stream.kinds.map(\.rawValue).sorted().joined(separator: ", ")))
        }
        return facts
    }

    private static func words(of rule: ProofKeyRule) -> String {
        switch rule {
        case .optional: "optional"
        case .required: "required"
        case .requiredWithoutNonce: "required, or a nonce"
        }
    }

    private static func duration(_ seconds: Int64) -> String {
        ShownDuration(milliseconds: seconds * 1000).description
    }

    private static func expiry(_ lifetimes: ClientLifetimes) -> String {
        let ends = [
            lifetimes.refreshTokenIdle.map { "\(duration($0)) after its last use" },
            lifetimes.refreshTokenAbsolute.map { "\(duration($0)) after the code was redeemed" },
        ].compactMap(\.self)
        return ends.isEmpty ? "never" : ends.joined(separator: ", or ")
    }

    /// The table of the page on Google account linking, with the values of this deployment.
    private static func fields(_ client: OAuthClient, _ google: GoogleLinking, _ issuer: Issuer) -> [Field] {
        var fields: [(String, String)] = [
            ("Client ID issued by your app", client.id.rawValue),
            ("Authorization URL", issuer.url(AuthorizeUseCase.path)),
            ("Token URL", issuer.url("/oauth/token")), ("Scopes", client.scopes.text),
        ]
        if google.appFlip {
            fields.append(("App Flip for iOS: universal link", issuer.url("/link/google/start")))
        }
        return fields.enumerated().map { Field(name: $1.0, value: $1.1, number: $0 + 1) }
    }
}
