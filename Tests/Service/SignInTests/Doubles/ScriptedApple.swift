import AppleAccounts
import AppleIDClient
import Cryptography
import Encodings
import StorageConformance
import StrictJSON
import Synchronization
import TokenMint

/// A fake Apple for one user that follows Apple's rules about codes and tokens. It fails when the test
/// requests it: before the work, or after the work, so that the response is lost.
final class ScriptedApple: AppleTokenService {
    enum Call: String, Hashable {
        case exchange, validate, revoke
    }

    enum Fault {
        /// The call fails before the work.
        case failed(AppleCallError)
        /// The call fails with this error after the work.
        case happened(AppleCallError)
    }

    struct Question: Hashable {
        let call: Call
        let secret: String
        let clientID: String
        let redirectURI: String?
        let second: Int64
    }

    private struct Code {
        let clientID: String
        let subject: String
        var isUsed = false
    }

    private struct State {
        var codes: [String: Code] = [:]
        /// Valid tokens, with their client IDs.
        var good: [String: String] = [:]
        var granted: [String] = []
        var faults: [Call: [Fault]] = [:]
        var questions: [Question] = []
        var doesRevoke = true
        var changes: [String: JSONValue?] = [:]
        var whenAsked: @Sendable () async -> Void = {}
        var isWithoutIdentityToken = false
        var isWithoutRefreshToken = false
    }

    private let state = Mutex(State())
    private let second: @Sendable () -> Int64

    /// - Parameter second: Apple's clock.
    init(second: @escaping @Sendable () -> Int64) { self.second = second }

    var questions: [Question] { state.withLock { $0.questions } }
    /// Every issued refresh token, in order.
    var granted: [String] { state.withLock { $0.granted } }
    /// The valid refresh tokens.
    var good: [String] { state.withLock { $0.good.keys.sorted() } }

    func questions(_ call: Call) -> [Question] { questions.filter { $0.call == call } }

    func know(code: String, clientID: String = TokenMint.clientID, subject: String = TokenMint.subject) {
        state.withLock { $0.codes[code] = Code(clientID: clientID, subject: subject) }
    }

    func know(token: String, clientID: String = TokenMint.clientID) {
        state.withLock { $0.good[token] = clientID }
    }

    /// Makes the next calls of this kind fail, one after the other.
    func script(_ call: Call, _ faults: Fault...) {
        state.withLock { $0.faults[call, default: []] += faults }
    }

    /// Ends all tokens, as when the user stops using the app.
    func forgetTokens() { state.withLock { $0.good = [:] } }

    /// Sets whether a revocation ends the token; the response is always 200.
    func setRevokes(_ doesRevoke: Bool) { state.withLock { $0.doesRevoke = doesRevoke } }

    /// Changes claims of the issued identity tokens.
    func setClaims(_ changes: [String: JSONValue?]) { state.withLock { $0.changes = changes } }

    /// Runs `body` at each request, before the response.
    func whenAsked(_ body: @escaping @Sendable () async -> Void) { state.withLock { $0.whenAsked = body } }

    func leaveOut(identityToken: Bool = false, refreshToken: Bool = false) {
        state.withLock {
            ($0.isWithoutIdentityToken, $0.isWithoutRefreshToken) = (identityToken, refreshToken)
        }
    }

    func exchange(
        code: String, clientID: String, redirectURI: String?
    ) async throws(AppleCallError) -> AppleTokenResponse {
        try await response(.exchange, code, clientID, redirectURI) { state throws(AppleCallError) in
            guard let known = state.codes[code], !known.isUsed, known.clientID == clientID else {
                throw AppleCallError(.rejected, appleError: .invalidGrant)
            }
            state.codes[code]?.isUsed = true
            let token = "refresh-\(state.granted.count + 1)-of-\(code)"
            state.granted.append(token)
            state.good[token] = clientID
            return AppleTokenResponse(
                accessToken: "access", refreshToken: state.isWithoutRefreshToken ? nil : token,
                identityToken: state.isWithoutIdentityToken ? nil : identityToken(of: known, state.changes),
                expiresIn: .seconds(3600))
        }
    }

    func validate(refreshToken: String, clientID: String) async throws(AppleCallError) -> AppleTokenResponse {
        try await response(.validate, refreshToken, clientID) { state throws(AppleCallError) in
            guard state.good[refreshToken] == clientID else {
                throw AppleCallError(.rejected, appleError: .invalidGrant)
            }
            return AppleTokenResponse(
                accessToken: "access", refreshToken: nil, identityToken: nil, expiresIn: .seconds(3600))
        }
    }

    func revoke(refreshToken: String, clientID: String) async throws(AppleCallError) {
        try await response(.revoke, refreshToken, clientID) { state throws(AppleCallError) in
            if state.doesRevoke, state.good[refreshToken] == clientID { state.good[refreshToken] = nil }
        }
    }

    private func response<Result>(
        _ call: Call, _ secret: String, _ clientID: String, _ redirectURI: String? = nil,
        _ work: (inout State) throws(AppleCallError) -> Result
    ) async throws(AppleCallError) -> Result {
        let second = second()
        await state.withLock { $0.whenAsked }()
        return try state.withLock { state throws(AppleCallError) in
            state.questions.append(
                Question(
                    call: call, secret: secret, clientID: clientID, redirectURI: redirectURI, second: second))
            guard let fault = state.faults[call]?.first else { return try work(&state) }
            state.faults[call]?.removeFirst()
            switch fault {
            case .failed(let error): throw error
            case .happened(let error):
                _ = try work(&state)
                throw error
            }
        }
    }

    private func identityToken(of code: Code, _ changes: [String: JSONValue?]) -> String? {
        var claims = TokenMint.identityClaims(at: second())
        claims["aud"] = .string(code.clientID)
        claims["sub"] = .string(code.subject)
        claims["at_hash"] = .string(Base64URL.encode(SHA256Digest.hash("access").prefix(16)))
        for (name, value) in changes { claims[name] = value }
        return try? TokenMint.shared.sign(claims)
    }
}

/// Holds callers until the test opens it.
final class Gate: Sendable {
    private let state = Mutex<(isOpen: Bool, held: [CheckedContinuation<Void, Never>])>((false, []))

    func pass() async {
        await withCheckedContinuation { continuation in
            state.withLock { state in
                if state.isOpen { continuation.resume() } else { state.held.append(continuation) }
            }
        }
    }

    /// Returns when a caller waits.
    func arrival() async { while state.withLock({ $0.held.isEmpty }) { await Task.yield() } }

    func open() {
        state.withLock { state in
            state.isOpen = true
            for continuation in state.held { continuation.resume() }
            state.held = []
        }
    }
}

extension AppleCallError {
    static let invalidGrant = AppleCallError(.rejected, appleError: .invalidGrant)
    static let invalidClient = AppleCallError(.rejected, appleError: .invalidClient)
}

/// Simulated power of a process. It fails between two steps that the test chooses; afterwards the process has
/// no effect.
final class Fuse: Sendable {
    struct Blown: Error {}

    private struct State {
        var crossed: [String] = []
        var holds: Int
        var outage = 0
    }

    private let state: Mutex<State>

    /// - Parameter holds: Number of points before the power fails; unlimited by default.
    init(holds: Int = .max) { state = Mutex(State(holds: holds)) }

    /// The passed points, in order: before and after each step outside of the process.
    var crossed: [String] { state.withLock { $0.crossed } }

    /// Makes this many next steps fail; then the power returns.
    func flicker(_ steps: Int) { state.withLock { $0.outage = steps } }

    func step<Result>(_ name: String, _ work: () async throws -> Result) async throws -> Result {
        try flickered()
        try cross("before \(name)")
        let result: Swift.Result<Result, any Error>
        do {
            result = .success(try await work())
        } catch {
            // A failure is a response too, and can get lost as well.
            result = .failure(error)
        }
        try cross("after \(name)")
        return try result.get()
    }

    private func flickered() throws {
        try state.withLock { state in
            guard state.outage > 0 else { return }
            state.outage -= 1
            throw Blown()
        }
    }

    private func cross(_ point: String) throws {
        try state.withLock { state in
            guard state.crossed.count < state.holds else { throw Blown() }
            state.crossed.append(point)
        }
    }
}

/// Apple, as reached from a process with a fuse.
struct FusedApple: AppleTokenService {
    let apple: any AppleTokenService
    let fuse: Fuse

    func exchange(
        code: String, clientID: String, redirectURI: String?
    ) async throws(AppleCallError) -> AppleTokenResponse {
        try await step("exchange") {
            try await apple.exchange(code: code, clientID: clientID, redirectURI: redirectURI)
        }
    }

    func validate(refreshToken: String, clientID: String) async throws(AppleCallError) -> AppleTokenResponse {
        try await step("validate") {
            try await apple.validate(refreshToken: refreshToken, clientID: clientID)
        }
    }

    func revoke(refreshToken: String, clientID: String) async throws(AppleCallError) {
        try await step("revoke") { try await apple.revoke(refreshToken: refreshToken, clientID: clientID) }
    }

    private func step<Result>(
        _ name: String, _ work: () async throws -> Result
    ) async throws(AppleCallError) -> Result {
        do {
            return try await fuse.step(name, work)
        } catch {
            // Which error a process without power gets does not matter: no caller reads it.
            throw error as? AppleCallError ?? AppleCallError(.connectionLost)
        }
    }
}

/// A store, as reached from a process with a fuse: nothing is done after the power fails.
struct FusedStore: RelayingStore, AppleTokenStore {
    let store: any AccountStore & AppleTokenStore
    let fuse: Fuse

    var behind: any AccountStore { store }

    func commit(_ commands: [AccountCommand]) async throws -> CommitResult {
        try await fuse.step("commit") { try await store.commit(commands) }
    }

    func claimCodes(limit: Int, at moment: Moment, leaseUntil: Moment) async throws -> [ClaimedCode] {
        try await fuse.step("claim codes") {
            try await store.claimCodes(limit: limit, at: moment, leaseUntil: leaseUntil)
        }
    }

    func releaseCode(_ id: UniqueID, until moment: Moment) async throws {
        try await fuse.step("release code") { try await store.releaseCode(id, until: moment) }
    }

    func claimChecks(
        limit: Int, at moment: Moment, nextAfter: Moment, jitterMilliseconds: Int64,
        except resting: Set<ClientID>
    ) async throws -> [ClaimedCheck] {
        try await fuse.step("claim checks") {
            try await store.claimChecks(
                limit: limit, at: moment, nextAfter: nextAfter, jitterMilliseconds: jitterMilliseconds,
                except: resting)
        }
    }

    func nextCheckDue(except resting: Set<ClientID>) async throws -> Moment? {
        try await store.nextCheckDue(except: resting)
    }

    func releaseCheck(_ check: ClaimedCheck, until moment: Moment?) async throws {
        try await fuse.step("release check") { try await store.releaseCheck(check, until: moment) }
    }

    func claimErasureTokens(
        limit: Int, at moment: Moment, leaseUntil: Moment, of id: ErasureID?
    ) async throws -> [ClaimedErasureToken] {
        try await fuse.step("claim tokens") {
            try await store.claimErasureTokens(limit: limit, at: moment, leaseUntil: leaseUntil, of: id)
        }
    }

    func save(_ token: ErasureToken, of id: ErasureID, at moment: Moment) async throws {
        try await fuse.step("save token") { try await store.save(token, of: id, at: moment) }
    }

    func adoptErasureToken(
        codeID: UniqueID, tokenID: UniqueID, sealed: SealedSecret, at moment: Moment
    ) async throws -> Bool {
        try await fuse.step("adopt token") {
            try await store.adoptErasureToken(codeID: codeID, tokenID: tokenID, sealed: sealed, at: moment)
        }
    }

    // Reading leaves nothing behind that a cut could tear.

    func earliestErasureDeadline() async throws -> Moment? { try await store.earliestErasureDeadline() }

    func nextDue() async throws -> AppleTokensDue { try await store.nextDue() }

    func backlog(at moment: Moment) async throws -> AppleTokensBacklog { try await store.backlog(at: moment) }

    func erasure(_ id: ErasureID) async throws -> ErasureRecord? { try await store.erasure(id) }

    func erasure(of id: AccountID) async throws -> ErasureRecord? { try await store.erasure(of: id) }

    func sealedSecrets(after cursor: SealedCursor?, limit: Int) async throws -> [SealedRow] {
        try await store.sealedSecrets(after: cursor, limit: limit)
    }

    func replaceSealed(_ changes: [SealedChange]) async throws -> Int {
        try await store.replaceSealed(changes)
    }

    func sealedCount() async throws -> Int { try await store.sealedCount() }
}

/// An empty store that counts the reads of its feed. An endless feed always has further events, but no event
/// for the reader.
final class BareStore: RelayingStore {
    let behind: any AccountStore = ReferenceStore()
    private let isEndless: Bool
    private let reads = Mutex(0)

    init(isEndless: Bool = false) { self.isEndless = isEndless }

    var readCount: Int { reads.withLock { $0 } }

    func commit(_ commands: [AccountCommand]) async throws -> CommitResult {
        CommitResult(results: [], lastEventSequence: nil)
    }

    func events(after sequence: Int64, limit: Int, visibleTo scope: AppScope) async throws -> EventPage {
        reads.withLock { $0 += 1 }
        return EventPage(events: [], cursor: isEndless ? sequence + 1 : sequence, hasMore: isEndless)
    }

    /// Sequence number after every cursor.
    func lastEventSequence() async throws -> Int64 { .max }
}

/// A store in which an event happens just before a batch is committed, after the callers of its commands have
/// read.
final class MeddlingStore: RelayingStore {
    typealias Event = @Sendable (any AccountStore) async throws -> Void

    let behind: any AccountStore
    private let next: Mutex<[Event]>

    /// - Parameter events: Events, each before one of the first batches with an erasure.
    init(_ behind: any AccountStore, before events: [Event]) {
        self.behind = behind
        next = Mutex(events)
    }

    func commit(_ commands: [AccountCommand]) async throws -> CommitResult {
        let isErasure = commands.contains { if case .erase = $0 { true } else { false } }
        let event = next.withLock { isErasure && !$0.isEmpty ? $0.removeFirst() : nil }
        try await event?(behind)
        return try await behind.commit(commands)
    }
}
