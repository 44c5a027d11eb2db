import Cryptography
import Encodings

/// Handles requests to the loopback address. Accepts a single authorization response (RFC 8252 §7.3, §8.10).
///
/// Any program on this machine, and any page in the browser, can send requests to this address.
struct CallbackExchange {
    /// A request line and its `Host` headers.
    struct Request {
        let method: String
        /// Path and query, as received.
        let target: String
        let hosts: [String]
    }

    enum Reply: Equatable {
        /// Shows the page, and keeps waiting.
        case page(CallbackPage)
        /// Shows the page, and ends the wait with a refusal.
        case response(CallbackPage, AuthorizationResponse)
        /// Ends the wait with a code. The browser receives its page after the tokens have been verified.
        case held(AuthorizationResponse)
    }

    let expectation: AuthorizationResponse.Expectation
    /// Expected `Host` header: `127.0.0.1:PORT` or `[::1]:PORT`.
    let host: String
    /// Expected path, beginning with a slash.
    let path: String
    private(set) var isAnswered = false
    /// Number of requests with another sign-in's `state`.
    private(set) var otherStates = 0

    init(expectation: AuthorizationResponse.Expectation, host: String, path: String) {
        (self.expectation, self.host, self.path) = (expectation, host, path)
    }

    mutating func reply(to request: Request) -> Reply {
        // Without this check, another site could point its own host name at this machine (DNS rebinding).
        guard request.hosts.count == 1, request.hosts[0].lowercased().isByteEqual(to: host) else {
            return .page(.otherHost)
        }
        let place = request.target.prefix { $0 != "?" }
        guard String(place).isByteEqual(to: path) else { return .page(.nothingHere) }
        guard request.method == "GET" else { return .page(.otherMethod) }
        guard !isAnswered else { return .page(.alreadyAnswered) }
        let query = String(request.target.dropFirst(place.count + 1))
        let response = AuthorizationResponse(query: query, expecting: expectation)
        switch response {
        case .unrelated: return .page(.nothingHere)
        case .otherState:
            otherStates += 1
            return .page(.otherState)
        case .code:
            isAnswered = true
            return .held(response)
        case .refused(let error):
            isAnswered = true
            return .response(.failed(error.message), response)
        }
    }
}

/// A parsed request to the loopback address (RFC 6749 §4.1.2, RFC 9207 §2.4).
enum AuthorizationResponse: Equatable {
    /// A request without `state`, such as a port scan or a browser's request for an icon.
    case unrelated
    /// A response with another sign-in's `state`, or with a guessed `state`. The wait continues, because
    /// otherwise any page in the browser could end the sign-in.
    case otherState
    case code(String)
    case refused(LoginError)

    /// The values that the authorization response must have.
    struct Expectation: Sendable {
        let state: String
        let issuer: String
        /// True if a response must contain `iss`.
        let promisesIssuer: Bool
    }

    init(query: String, expecting expectation: Expectation) {
        guard let fields = FormEncoding.decode(query.utf8, limit: 32) else {
            self = .unrelated
            return
        }
        let states = fields.filter { $0.name == "state" }
        guard states.count == 1 else {
            self = .unrelated
            return
        }
        guard ConstantTime.areEqual(Array(states[0].value.utf8), Array(expectation.state.utf8)) else {
            self = .otherState
            return
        }
        do throws(LoginError) {
            self = .code(try Self.code(in: fields, expectation))
        } catch {
            self = .refused(error)
        }
    }

    private static func code(
        in fields: [(name: String, value: String)], _ expectation: Expectation
    ) throws(LoginError) -> String {
        func value(_ name: String) throws(LoginError) -> String? {
            let values = fields.filter { $0.name == name }
            guard values.count <= 1 else {
                throw LoginError(.responseRefused, "the answer has \(name) twice; sign in again")
            }
            return values.first?.value
        }
        // Checks `iss` before `error`, because a mix-up attack can also send errors (RFC 9207 §2.4).
        switch try value("iss") {
        case let issuer? where issuer.isByteEqual(to: expectation.issuer): break
        case let issuer?:
            throw LoginError(
                .responseRefused,
                "the answer must come from \(expectation.issuer), but it comes from \(issuer.forTerminal()); nothing was sent there"
            )
        case nil where expectation.promisesIssuer:
            throw LoginError(
                .responseRefused,
                "the answer must name its issuer, because the server's metadata says so, but it has no iss; sign in again"
            )
        case nil: break
        }
        let code = try value("code")
        if let error = try value("error") {
            guard code == nil else {
                throw LoginError(.responseRefused, "the answer has a code and an error; sign in again")
            }
            throw OAuthErrorWords.error(error, description: try value("error_description"))
        }
        guard let code, (1...longestCode).contains(code.utf8.count),
            code.utf8.allSatisfy({ (0x20...0x7E).contains($0) })
        else {
            throw LoginError(
                .responseRefused, "the answer must have a code or an error, and it has neither; sign in again"
            )
        }
        return code
    }

    /// Maximum size of a code in bytes. The standard sets no limit.
    private static let longestCode = 4096
}
