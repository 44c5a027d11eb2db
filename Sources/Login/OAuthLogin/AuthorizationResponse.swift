import Cryptography
import Encodings

/// Meaning of a request to the loopback address (RFC 6749 §4.1.2, RFC 9207 §2.4).
enum AuthorizationResponse: Equatable {
    /// A request without `state`: from a port scanner, or from the browser for an icon.
    case unrelated
    /// The `state` of another sign-in, or a guess. The wait goes on: otherwise any page in the browser could
    /// end the sign-in.
    case otherState
    case code(String)
    case refused(LoginError)

    /// Values that the authorization response must have.
    struct Expectation: Sendable {
        let state: String
        let issuer: String
        /// True if a response without `iss` is refused.
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
        // `iss` is checked before `error`, because a mix-up attack can also send errors (RFC 9207 §2.4).
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

    /// Bytes. The standard does not limit the length of a code.
    private static let longestCode = 4096
}
