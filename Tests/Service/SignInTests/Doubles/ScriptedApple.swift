import AppleIDClient
import Cryptography
import Encodings
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
        var whenAsked: @Sendable () -> Void = {}
        var isWithoutIdentityToken = false
        var isWithoutRefreshToken = false
    }

    private let state = Mutex(State())
    private let second: @Sendable () -> Int64

    /// - Parameter second: Apple's clock.
    init(second: @escaping @Sendable () -> Int64) {
        self.second = second
    }

    var questions: [Question] { state.withLock { $0.questions } }
    /// Every issued refresh token, in order.
    var granted: [String] { state.withLock { $0.granted } }
    /// The valid refresh tokens.
    var good: [String] { state.withLock { $0.good.keys.sorted() } }

    func questions(_ call: Call) -> [Question] { questions.filter { $0.call == call } }

    func know(
        code: String, clientID: String = TokenMint.clientID, subject: String = TokenMint.subject
    ) {
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
    func forgetTokens() {
        state.withLock { $0.good = [:] }
    }

    /// Sets whether a revocation ends the token; the response is always 200.
    func setRevokes(_ doesRevoke: Bool) {
        state.withLock { $0.doesRevoke = doesRevoke }
    }

    /// Changes claims of the issued identity tokens.
    func setClaims(_ changes: [String: JSONValue?]) {
        state.withLock { $0.changes = changes }
    }

    /// Runs `body` at each request, before the response.
    func whenAsked(_ body: @escaping @Sendable () -> Void) {
        state.withLock { $0.whenAsked = body }
    }

    func leaveOut(identityToken: Bool = false, refreshToken: Bool = false) {
        state.withLock {
            ($0.isWithoutIdentityToken, $0.isWithoutRefreshToken) = (identityToken, refreshToken)
        }
    }

    func exchange(
        code: String, clientID: String, redirectURI: String?
    ) async throws(AppleCallError) -> AppleTokenResponse {
        try response(.exchange, code, clientID, redirectURI) { state throws(AppleCallError) in
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
        try response(.validate, refreshToken, clientID) { state throws(AppleCallError) in
            guard state.good[refreshToken] == clientID else {
                throw AppleCallError(.rejected, appleError: .invalidGrant)
            }
            return AppleTokenResponse(
                accessToken: "access", refreshToken: nil, identityToken: nil, expiresIn: .seconds(3600))
        }
    }

    func revoke(refreshToken: String, clientID: String) async throws(AppleCallError) {
        try response(.revoke, refreshToken, clientID) { state throws(AppleCallError) in
            if state.doesRevoke, state.good[refreshToken] == clientID { state.good[refreshToken] = nil }
        }
    }

    private func response<Result>(
        _ call: Call, _ secret: String, _ clientID: String, _ redirectURI: String? = nil,
        _ work: (inout State) throws(AppleCallError) -> Result
    ) throws(AppleCallError) -> Result {
        let second = second()
        state.withLock { $0.whenAsked }()
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

extension AppleCallError {
    static let invalidGrant = AppleCallError(.rejected, appleError: .invalidGrant)
    static let invalidClient = AppleCallError(.rejected, appleError: .invalidClient)
}
