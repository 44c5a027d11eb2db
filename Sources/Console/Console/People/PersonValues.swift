import AppleAccounts
import AuthorizationServer
import Encodings
import HTTPAPI
import SignIn

/// The values of a person's page.
struct PersonValues: Sendable {
    struct Fact: Sendable {
        let name: String
        let value: String
        var isCode = false
        var look = ""
    }

    struct CredentialCard: Sendable {
        let app: String
        let word: String
        let look: String
        let facts: [Fact]
    }

    struct GrantRow: Sendable {
        let client: String
        let id: String
        let app: String
        let scope: String
        let created: String
        let used: String?
    }

    struct Moments: Sendable {
        let revoked: String
        let authorized: String
        let distance: String
    }

    struct EventRow: Sendable {
        let sequence: String
        let kind: String
        let id: String
    }

    struct Row: Sendable {
        let look: String
        let title: String
        let app: String?
        let moment: String?
        let recorded: String
        /// The time from Apple's moment to ours.
        let delay: String?
        let effect: String
        /// One value, or none.
        let comparison: [Moments]
        let facts: [Fact]
        let hasFacts: Bool
        let events: [EventRow]
        let hasEvents: Bool
    }

    struct RequestRow: Sendable {
        let number: Int
        let time: String
        let title: String
        let status: Int
        let code: String
        let look: String
    }

    struct Erasure: Sendable {
        let id: String
        let requested: String
        let finished: String?
        let deadline: String
        let tokens: [Fact]
    }

    let csrf: String
    let id: String
    let isErased: Bool
    /// Set if an operator has asked for masked values, and the audit log has it.
    let isShown: Bool
    /// Set if there are masked values.
    let canShow: Bool
    let isDisabled: Bool
    let canDisable: Bool
    let facts: [Fact]
    let credentials: [CredentialCard]
    let grants: [GrantRow]
    /// Set for operators of all apps, who alone see the pages of OAuth clients and of the audit log.
    let seesAllApps: Bool
    let hasGrants: Bool
    let erasure: [Erasure]
    /// The latest requests with a token of the person. Only in `siwa dev`.
    let requests: [RequestRow]
    let hasRequests: Bool
    let rows: [Row]
    let hasRows: Bool
    let reasons: [String]
}

extension PersonValues {
    /// - Parameters:
    ///   - account: `nil` for an erased account.
    ///   - checks: The times of the checks of Apple's refresh tokens.
    ///   - isShown: True after the audit log has an entry about the operator.
    ///   - viewer: Sees everything in `siwa dev`, whose people are invented.
    init(
        id: AccountID, account: Account?, grants: [GrantRecord], erasure: ErasureRecord?,
        timeline: PersonTimeline, checks: CheckTimes, requests: [RequestRow], isShown isAsked: Bool,
        viewer: ConsoleViewer
    ) {
        csrf = viewer.formToken
        seesAllApps = viewer.scope == .all
        self.id = id.rawValue
        let isShown = isAsked || viewer.isDevelopment
        self.isShown = isAsked && !viewer.isDevelopment
        isErased = account == nil
        canShow = account != nil && !isShown
        self.requests = requests
        hasRequests = !requests.isEmpty
        isDisabled = account?.disabling != nil
        canDisable = account != nil && account?.disabling == nil
        facts = account.map { Self.facts(of: $0, isShown: isShown) } ?? []
        credentials = account?.credentials.map { CredentialCard($0, checks: checks) } ?? []
        self.grants = grants.map { GrantRow($0) }
        hasGrants = !grants.isEmpty
        self.erasure = erasure.map { [Erasure($0)] } ?? []
        rows = timeline.items.map { Row($0, isShown: isShown) }
        hasRows = !rows.isEmpty
        reasons = Disabling.Reason.allCases.map(\.rawValue)
    }

    /// Rows of requests on a person's page.
    private static let mostRequests = 20

    /// Returns the newest requests whose token names the person, verified or not.
    static func requests(
        _ kept: [RecentRequest], of id: AccountID, _ account: Account?
    ) -> [RequestRow] {
        let names = [id.rawValue] + (account.map { [$0.subject.rawValue] } ?? [])
        let found = kept.lazy.filter { request in
            guard let token = TokenText.carried(by: request.exchange),
                let subject = TokenText.subject(of: token)
            else { return false }
            return names.contains { subject.isByteEqual(to: $0) }
        }
        return found.prefix(mostRequests).map { request in
            RequestRow(
                number: request.number, time: RequestList.time(request.time),
                title: "\(request.method) \(request.route)", status: request.status,
                code: request.reason ?? request.code ?? "", look: RequestList.style(request))
        }
    }

    private static func facts(of account: Account, isShown: Bool) -> [Fact] {
        var facts: [Fact] = []
        if let name = MaskedText.name(account.profile, isShown: isShown) {
            facts.append(Fact(name: "Name", value: name))
        }
        if let email = account.email {
            let kind = account.isPrivateEmail == true ? "Relay address" : "Address"
            facts.append(Fact(name: kind, value: MaskedText.email(email, isShown: isShown)))
            let isVerified = account.isEmailVerified == true
            facts.append(
                Fact(
                    name: "Signed by Apple", value: isVerified ? "yes" : "no", look: isVerified ? "" : "warn")
            )
        }
        facts += [
            Fact(name: "Mail forwarding", value: account.emailForwarding.rawValue),
            Fact(name: "sub", value: account.subject.rawValue, isCode: true),
            Fact(name: "Team", value: account.team.rawValue, isCode: true),
            Fact(name: "Created", value: account.createdAt.shown),
        ]
        if let last = account.lastSignInAt { facts.append(Fact(name: "Last sign-in", value: last.shown)) }
        if let status = account.realUserStatus {
            let words = ["unsupported", "unknown", "likely real"]
            let isKnown = (0..<Int64(words.count)).contains(status)
            facts.append(
                Fact(name: "Apple's estimate", value: isKnown ? words[Int(status)] : String(status)))
        }
        if let disabling = account.disabling {
            let end = disabling.until < .last ? " until \(disabling.until.shown)" : ""
            facts.append(
                Fact(
                    name: "Disabled",
                    value: "\(disabling.reason.rawValue) since \(disabling.since.shown)\(end)",
                    look: "warn"))
        }
        if let ended = account.sessionsEndedAt {
            facts.append(Fact(name: "Signed out everywhere", value: ended.shown))
        }
        return facts
    }
}

extension PersonValues.CredentialCard {
    fileprivate init(_ credential: Credential, checks: CheckTimes) {
        app = credential.clientID.rawValue
        word = credential.state.rawValue
        look = credential.state.look
        var facts: [PersonValues.Fact] = []
        if let reason = credential.reason {
            facts.append(PersonValues.Fact(name: "Reason", value: reason.words))
        }
        if let since = credential.since {
            let isOurs = credential.source == .dailyCheck || credential.source == .erasure
            facts.append(PersonValues.Fact(name: isOurs ? "Since" : "Since, by Apple", value: since.shown))
        }
        if let source = credential.source {
            facts.append(PersonValues.Fact(name: "Source", value: source.rawValue.replacing("_", with: " ")))
        }
        let token: (String, String) =
            switch credential.refreshToken {
            case nil: ("none came", "muted")
            case .held: ("held", "good")
            case .pending: ("the code waits for its exchange", "")
            case .unavailable(let cause): (cause.rawValue.replacing("_", with: " "), "warn")
            }
        facts.append(PersonValues.Fact(name: "Apple's token", value: token.0, look: token.1))
        facts += checks.facts(of: credential.clientID)
        self.facts = facts
    }
}

extension PersonValues.GrantRow {
    fileprivate init(_ grant: GrantRecord) {
        client = grant.oauthClientID.rawValue
        id = grant.id.rawValue
        app = grant.clientID.rawValue
        scope = grant.scope
        created = grant.createdAt.shown
        used = grant.lastUsedAt.map { String($0.rfc3339.prefix(10)) }
    }
}

extension PersonValues.Erasure {
    fileprivate init(_ record: ErasureRecord) {
        id = record.id.rawValue
        requested = record.requestedAt.shown
        finished = record.finishedAt?.shown
        deadline = record.deadline.shown
        tokens = record.tokens.map { token in
            let (word, look) =
                switch token.step {
                case .exchange: ("must be exchanged first", "")
                case .revoke: ("must be revoked", "")
                case .prove: ("revoked, not yet proven", "")
                case .done(.provenRevoked): ("proven revoked", "good")
                case .done(.notRevoked): ("not revoked", "bad")
                }
            let cause = token.cause.map { " (\($0))" } ?? ""
            return PersonValues.Fact(
                name: token.clientID.rawValue,
                value: "\(word)\(cause), asked \(token.attempts == 1 ? "once" : "\(token.attempts) times")",
                look: look)
        }
    }
}

extension PersonValues.Row {
    fileprivate init(_ item: TimelineItem, isShown: Bool) {
        look = item.look.rawValue
        title = item.title
        app = item.app?.rawValue
        moment = item.moment?.shown
        recorded = item.hasDayAlone ? String(item.recordedAt.rfc3339.prefix(10)) : item.recordedAt.shown
        delay = item.moment.flatMap { moment in
            // Apple's moments are whole seconds.
            guard abs(item.recordedAt.milliseconds - moment.milliseconds) >= 1000 else { return nil }
            let distance = ShownDuration(from: moment, to: item.recordedAt)
            return moment <= item.recordedAt ? "\(distance) later" : "\(distance) before Apple's moment"
        }
        effect = item.effect
        comparison =
            item.comparison.map { moments in
                [
                    PersonValues.Moments(
                        revoked: moments.revokedAt.shown, authorized: moments.authorizedAt.shown,
                        distance: ShownDuration(from: moments.revokedAt, to: moments.authorizedAt).description
                    )
                ]
            } ?? []
        facts = item.facts.map { fact in
            PersonValues.Fact(
                name: fact.name, value: isShown ? fact.value : fact.masked, isCode: true)
        }
        hasFacts = !facts.isEmpty
        events = item.events.map {
            PersonValues.EventRow(
                sequence: String($0.sequence), kind: $0.kind.rawValue, id: $0.id.rawValue)
        }
        hasEvents = !events.isEmpty
    }
}
