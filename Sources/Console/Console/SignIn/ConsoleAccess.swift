import AppleAccounts
import Cryptography
import Encodings
import HTTPAPI
import HTTPEngine
import NIOHTTP1
import OAuth
import Synchronization

/// Decides who is an operator. In `siwa dev`, everyone who visits the console on this machine is an operator.
final class ConsoleAccess: Sendable {
    /// A visit, with the values that later checks need. The session is `nil` in development.
    typealias Visit = (viewer: ConsoleViewer, formKey: [UInt8], session: ConsoleSession?)

    enum SignIn {
        case signedIn(ConsoleSession, name: String)
        /// - name: The name of a configured key that may not open a session; `nil` for an unknown key.
        case refused(String, code: String, name: String? = nil)
        /// Number of seconds to wait.
        case paused(Int64)
    }

    /// The current API keys, and the ended sessions; `nil` in development.
    private let operators: (callers: @Sendable () -> CallerDirectory, ended: EndedConsoleSessions)?
    /// The key for form tokens in development.
    private let formKey = SecureRandom.bytes(count: ConsoleSession.formKeySize)
    let hosts: AllowedHosts
    let seal: ConsoleSeal
    private let guessing = Mutex(AttemptPauses<AnySubject>())
    /// Time of the last audit log row about each refused configured key, by key name.
    private let refusedKeys = Mutex<[String: Moment]>([:])
    private static let refusalPause: Int64 = 60_000

    init(_ visitors: ConsoleSite.Visitors) {
        switch visitors {
        case .developers(let hosts):
            (operators, self.hosts, seal) = (nil, hosts, ConsoleSeal(keys: Self.processKeys))
        case .operators(let callers, let hosts, let sealingKeys, let tickets):
            operators = (callers, EndedConsoleSessions(tickets))
            (self.hosts, seal) = (hosts, ConsoleSeal(keys: sealingKeys ?? Self.processKeys))
        }
    }

    private static let processKeys: SealingKeyRing = {
        let key = SealingKey(name: "process", bytes: SecureRandom.bytes(count: SealingKey.size))
        guard let ring = key.flatMap({ SealingKeyRing([$0]) }) else {
            preconditionFailure("a key of \(SealingKey.size) bytes was refused")
        }
        return ring
    }()

    var isDevelopment: Bool { operators == nil }

    /// Returns `nil` if the visitor must sign in. Does not detect a session that has ended early, because
    /// only `hasEnded` asks the database.
    func visit(cookie: String?, at now: Moment) -> Visit? {
        func visit(_ name: String, _ scope: AppScope, _ formKey: [UInt8], _ session: ConsoleSession?) -> Visit
        {
            let viewer = ConsoleViewer(
                name: name, scope: scope, isDevelopment: isDevelopment,
                formToken: ConsoleFormToken.make(key: formKey))
            return (viewer, formKey, session)
        }
        guard let callers = operators?.callers else { return visit("developer", .all, formKey, nil) }
        guard
            let session = ConsoleCookie.session.values(in: cookie).lazy
                .compactMap({ [seal] in seal.open(.session, $0).flatMap { ConsoleSession(json: $0) } })
                .first,
            // Looks up the key for each request, so that removing the key or its role ends its sessions.
            let key = callers().operatorKey(named: session.key), session.isGood(for: key, at: now)
        else { return nil }
        return visit(key.name, key.scope, session.formKey, session)
    }

    /// Signs in with an API key. A correct key is never refused because of wrong keys, so that a guesser
    /// behind the same proxy cannot lock operators out; guessing 256 random bits is hopeless.
    func signIn(with secret: String, from address: RequesterAddress?, at now: Moment) -> SignIn {
        guard let callers = operators?.callers else {
            return .refused("siwa dev needs no sign-in.", code: "console_sign_in_not_needed")
        }
        switch callers().operatorKey(presenting: secret) {
        case .operatorKey(let key): return .signedIn(ConsoleSession(of: key, at: now), name: key.name)
        case .otherKey(let key):
            return .refused(
                "The API key \(key.name) has no role operator, which the console needs. Sign in with a key "
                    + "that has it: siwa api-key makes one, and its entry in api_keys gets roles: [operator].",
                code: "console_key_without_role", name: key.name)
        case .metricsKey:
            return .refused(
                "This is the key for the metrics, which opens nothing else. Sign in with an API key of the "
                    + "role operator.", code: "console_key_without_role", name: "metrics key")
        case .unknown: break
        }
        // Runs under one lock, so that simultaneous guesses are counted one after the other.
        let pause = guessing.withLock { guessing -> Int64? in
            if let seconds = guessing.pause(for: AnySubject(), at: address, now: now) { return seconds }
            guessing.failed(for: AnySubject(), at: address, now: now)
            return nil
        }
        if let pause { return .paused(pause) }
        return .refused("This is no API key of this service.", code: "console_key_unknown")
    }

    /// Returns true if the audit log should record the key's refusal, at most once a minute for each key.
    ///
    /// - Parameter name: The name of a configured key, so the configuration bounds the number of names.
    func isRefusalDue(of name: String, at now: Moment) -> Bool {
        refusedKeys.withLock { last in
            if let known = last[name], (0..<Self.refusalPause).contains(now.milliseconds - known.milliseconds)
            {
                return false
            }
            last[name] = now
            return true
        }
    }

    /// - Throws: `StorageError`, in which case no session may be treated as valid.
    func hasEnded(_ session: ConsoleSession, at now: Moment) async throws -> Bool {
        try await operators?.ended.contains(session, at: now) ?? false
    }

    /// - Throws: `StorageError`, in which case the session has ended only in this process.
    func signOut(_ session: ConsoleSession) async throws {
        try await operators?.ended.end(session)
    }

    /// Returns the refusal code for a request that a page on another site may have sent, or `nil`.
    func refusal(of head: HTTPRequestHead) -> String? {
        let (check, host) = (ForeignPageCheck(hosts: hosts), head.headers["host"])
        do throws(ForeignPageRefusal) {
            try check.check(host: host)
            guard head.method == .POST else { return nil }
            try check.check(RequestSender(head.headers))
            return nil
        } catch {
            switch error {
            case .host: return "host_refused"
            case .origin: return "origin_refused"
            }
        }
    }
}
