import AppleEmulator
import Composition
import EmulatorServer
import Encodings
import GoogleEmulator
import HTTPAPI
import ReceiverEmulator
import StrictJSON
import Synchronization

/// The fakes that `siwa dev` runs, with their people.
///
/// People act as in production: over HTTP, through the pages and endpoints of the fakes and the service. So
/// the console shows data that the service itself has stored.
final class DevelopmentFakes: Sendable {
    private struct State {
        /// The service's URL, `http://127.0.0.1:PORT`, once it listens.
        var service: String?
        /// The person who signed in last.
        var lastSubject: String?
        /// Recent requests that the service has recorded.
        var received: RecentRequests?
    }

    let apple: EmulatedApple
    let google: GoogleEmulatorService?
    let receivers: ReceiverEmulatorService
    let clientIDs: [String]
    private let secret: String
    private let state = Mutex(State())

    init(
        apple: EmulatedApple, google: GoogleEmulatorService?, receivers: ReceiverEmulatorService,
        clientIDs: [String], secret: String
    ) {
        (self.apple, self.google, self.receivers) = (apple, google, receivers)
        (self.clientIDs, self.secret) = (clientIDs, secret)
    }

    /// Sets the service's URL once its port is known.
    func connect(to service: String) {
        state.withLock { $0.service = service }
        let call = call(service)
        apple.state.appBackend.withLock {
            $0 = { signIn in
                let response = try await call.post("/v1/sign-ins", signIn)
                let account = response.json?["account"]?["id"]?.string.map { "people/\($0)" }
                let request = response.requestID.map {
                    "requests?\(FormEncoding.encode([("id", $0)]))"
                }
                let page = (response.isFine ? account : request).map { "\(service)/console/\($0)" }
                return AppBackendAnswer(status: response.status, body: response.json, page: page)
            }
        }
    }

    /// Recent requests to the service.
    var received: RecentRequests? { state.withLock { $0.received } }

    /// Sets the requests that the service records, and the function to call after each of the fakes'
    /// exchanges.
    func observe(_ received: RecentRequests, whenExchanged action: @escaping @Sendable () -> Void) {
        state.withLock { $0.received = received }
        apple.state.observer.listen(action)
        google?.state.observer.listen(action)
    }

    /// Returns the service's URL. Throws `DevelopmentWorldError` while the service does not listen.
    func service() throws -> String {
        guard let service = state.withLock({ $0.service }) else {
            throw DevelopmentWorldError("The service does not listen yet.")
        }
        return service
    }

    // MARK: - Actions. Each function returns a sentence, and throws `DevelopmentWorldError` or `EmulatorError`.

    /// Signs a new person in to the app: a person whom the service does not know yet.
    func newPersonSignsIn() async throws -> String { try await signInOnPhone(makePerson().subject) }

    private func makePerson() throws -> EmulatedUser {
        let number = apple.state.users.count
        var recipe = UserRecipe()
        // 12 and 7 have no common divisor, so 84 people have different names.
        recipe.firstName = Self.firstNames[number % Self.firstNames.count]
        recipe.lastName = Self.lastNames[number % Self.lastNames.count]
        recipe.hidesEmail = number.isMultiple(of: 2)
        return try apple.state.makeUser(recipe)
    }

    private static let firstNames = [
        "Nora", "Emil", "Aylin", "Jan", "Layla", "Tomasz", "Mei", "Samuel", "Ines", "Ravi", "Zofia", "Omar",
    ]
    private static let lastNames = ["Quist", "Berg", "Demir", "Nowak", "Haddad", "Silva", "Tanaka"]

    /// The person who signed in last.
    private var lastPerson: EmulatedUser? { state.withLock { $0.lastSubject }.flatMap(person) }

    /// Links the account of the person who signed in last with Google. If nobody has signed in, links a new
    /// person's account.
    func linkWithGoogle() async throws -> String {
        _ = try requireGoogle()
        if let last = lastPerson, !last.isDeleted { return try await link(last.subject) }
        let person = try makePerson()
        _ = try await signInOnPhone(person.subject)
        return try await link(person.subject)
    }

    /// Makes the person who signed in last stop using the app, in Apple's settings. Apple then notifies the
    /// service.
    func personStopsUsingTheApp() async throws -> String {
        let people = [lastPerson].compactMap(\.self) + apple.state.users.reversed()
        guard let user = people.first(where: { !$0.apps.isEmpty }) else {
            throw DevelopmentWorldError("No person uses the app. Let a new person sign in first.")
        }
        return try await change(.revokeConsent, user.subject)
    }

    func changePassword(_ subject: String) throws -> String {
        try apple.state.changePassword(of: subject)
        return outcome(subject, "has changed the password. Refresh tokens have ended.")
    }

    /// Signs in on a phone: Apple's sheet gives the app a token, which the app's backend posts to the
    /// service.
    func signInOnPhone(_ subject: String) async throws -> String {
        let service = try service()
        var recipe = IdentityTokenRecipe()
        (recipe.subject, recipe.authorizationCode) = (subject, .made)
        let minted = try await apple.state.mint(recipe)
        apple.state.record(
            .appSignIn, "Sign in with Apple's sheet", request: "client_id = \(minted.clientID)",
            response: ShownText.body(SignInBody(minted).json()), status: 200)
        let body = SignInBody(minted, clientID: minted.clientID)
        let response = try await call(service).post("/v1/sign-ins", body)
        return try signedIn(subject, response, "has signed in on a phone")
    }

    func signInOnWeb(_ subject: String) async throws -> String {
        guard clientIDs.count > 1 else {
            throw DevelopmentWorldError("Sign-in on the web needs a Services ID: a second --client-id.")
        }
        let service = try service()
        let browser = try await browser(of: subject)
        let query = FormEncoding.encode([("client_id", clientIDs[1]), ("state", "from-the-console")])
        let end = try await browser.follow("\(service)/v1/web/sign-in?\(query)")
        guard let code = ScriptedBrowser.parameter("code", of: end) else {
            throw DevelopmentWorldError("The sign-in came back without a code: \(ShownText.url(end))")
        }
        let response = try await call(service).post(
            "/v1/web/results", JSONObject([("code", .string(code))]))
        return try signedIn(subject, response, "has signed in on the web")
    }

    func link(_ subject: String) async throws -> String {
        let google = try requireGoogle()
        let url = try google.state.beginLink()
        _ = try await browser(of: subject).follow(url)
        guard let link = google.state.links.last, link.status == .linked else {
            throw DevelopmentWorldError(
                "Google could not link. The last of these exchanges shows where it ended.",
                page: "/world/exchanges")
        }
        state.withLock { $0.lastSubject = subject }
        return outcome(subject, "has linked with Google: link \(link.id)")
    }

    private func call(_ service: String) -> ServiceCall {
        ServiceCall(service: service, secret: secret)
    }

    private func browser(of subject: String) async throws -> ScriptedBrowser {
        var google: String?
        if let service = self.google { google = "http://127.0.0.1:\(try await service.port())" }
        return ScriptedBrowser(
            subject: subject, service: try service(), apple: "http://127.0.0.1:\(try await apple.port())",
            google: google)
    }

    func change(_ change: AccountChange, _ subject: String) async throws -> String {
        var recipe = NotificationRecipe()
        recipe.subject = subject
        let deliveries = try await apple.carryOut(change, notifying: recipe)
        let words =
            switch change {
            case .revokeConsent: "has stopped using the app"
            case .deleteAccount: "has deleted the Apple Account"
            case .disableForwarding: "does not forward e-mail any more"
            case .enableForwarding: "forwards e-mail again"
            }
        let told =
            deliveries.isEmpty
            ? "Apple holds the notification, or the person uses no app."
            : deliveries.allSatisfy(\.isTaken)
                ? "siwa has taken Apple's notification."
                : "siwa has not taken Apple's notification. Apple tries again."
        return outcome(subject, "\(words). \(told)")
    }

    private func signedIn(
        _ subject: String, _ response: ServiceCall.Response, _ words: String
    ) throws -> String {
        guard response.isFine, response.json?["account"]?["id"]?.string != nil else {
            let code = response.json?["code"]?.string ?? "no code"
            throw DevelopmentWorldError("siwa answered \(response.status) (\(code)) to the sign-in.")
        }
        state.withLock { $0.lastSubject = subject }
        return outcome(subject, words)
    }

    private func outcome(_ subject: String, _ words: String) -> String {
        let name = person(subject)?.shownName ?? subject
        return words.hasSuffix(".") ? "\(name) \(words)" : "\(name) \(words)."
    }

    func requireGoogle() throws -> GoogleEmulatorService {
        guard let google else {
            throw DevelopmentWorldError(
                "Google's client is not configured: it needs a port that is not 0, and two client IDs.")
        }
        return google
    }

    /// Returns `nil` if nobody has this user ID.
    func person(_ subject: String) -> EmulatedUser? { try? apple.state.user(subject) }

    /// The available faults, in the order that pages list them.
    var faults: [FaultSwitch] { FaultSwitch.all.filter { $0.isOn(self) != nil } }

    /// The exchanges that both fakes recorded, and the requests that siwa received from other programs,
    /// ordered by start time.
    var exchanges: [WorldExchange] {
        let ofApple = apple.state.exchanges
        let ofGoogle = google?.state.exchanges ?? []
        let received = ReceivedRequests(
            received?.all ?? [], knownFrom: Set((ofApple + ofGoogle).compactMap(\.requestID)))
        func shown(_ exchange: Exchange, of source: WorldExchange.Source) -> WorldExchange {
            WorldExchange(
                source: source, exchange: exchange,
                requestNumber: exchange.requestID.flatMap { received.numbers[$0] })
        }
        let all =
            ofApple.map { shown($0, of: .apple) } + ofGoogle.map { shown($0, of: .google) }
            + received.exchanges
        return all.sorted { ($0.begin, $0.id) < ($1.begin, $1.id) }
    }
}

extension EmulatorError {
    /// The reason as a sentence for the developer. A reason that no console form can cause is shown as its
    /// code.
    var sentence: String {
        switch code {
        case .keyNotFound: "The key is not there any more. Load the page again."
        case .tooManyKeys: "There are as many keys as the fake keeps. Retire one first."
        case .noSigningKey: "All keys are retired, so nothing can be signed. Let a key sign first."
        case .userNotFound: "There is no such person any more."
        case .userExists: "A person with this user ID or address exists already."
        case .tooManyUsers: "There are as many people as the fake Apple keeps."
        case .clientIDUnknown: "The fake Apple does not know the client ID of the app."
        case .notificationURLMissing: "The fake Apple does not know where to send notifications."
        case .linkNotFound: "There is no such link any more."
        case .tokenMissing: "The link has no token for this: it was never made, or has ended."
        case .serverMissing: "The fake Google does not know the service yet."
        case .memberMalformed, .characterNotAllowed:
            "A value cannot be used" + (detail.isEmpty ? "." : ": \(detail).")
        case _:
            "Not possible: \(code.name.split(separator: "_").joined(separator: " "))"
                + (detail.isEmpty ? "." : " (\(detail)).")
        }
    }
}
