import AppAttestation
import AppleAccounts
import AppleIdentity
import AuthorizationServer
import OAuth

extension RecentRefusal {
    /// Longest value in bytes that is kept of a request.
    private static let longestFound = 200

    /// Says which check refused. The values of an error are bounded, because a client has sent them.
    init(_ error: any Error, sent: SentAuthorization = .none) {
        switch error {
        case let error as AppleTokenError:
            self.init(
                check: "\(error.step.rawValue) of the identity token or notification",
                expected: error.code.expectation, found: Self.bounded(error.detail))
        case let error as StorageError:
            // SQL without values, and the database's own code.
            self.init(
                check: "database", expected: error.problem.detail,
                found: Self.bounded("\(error.code.rawValue) \(error.databaseCode ?? "")"))
        case let error as TokenEndpointError: self.init(error.error, sent)
        case let error as OAuthError: self.init(error, sent)
        case let error as GuessingPaused: self.init(error.error.error, sent)
        case let error as RequestsPaused: self.init(error.error.error, sent)
        case let refusal as BearerRefusal: self.init(refusal.error, sent)
        default:
            let problem = Problem(describing: error)
            let isUnauthenticated = problem.code == ProblemCode.callerUnauthenticated.rawValue
            self.init(
                check: problem.title, expected: problem.detail,
                found: isUnauthenticated ? sent.finding : problem.subject?.text)
        }
    }

    private static func bounded(_ text: String) -> String? {
        let text = text.utf8.prefix(longestFound)
        return text.isEmpty ? nil : String(decoding: text, as: UTF8.self)
    }
}

extension Problem.Subject {
    fileprivate var text: String {
        switch self {
        case .member(let name): "member \(name.prefix(64))"
        case .parameter(let name): "parameter \(name.prefix(64))"
        }
    }
}

extension AppleTokenError.Code {
    /// The rule that the token breaks.
    fileprivate var expectation: String {
        switch self {
        case .tokenTooLarge: "At most 16 KiB."
        case .tokenMalformed: "Three segments of strict base64url around strict JSON."
        case .algorithmNotAllowed: "alg is RS256."
        case .headerNotAllowed: "No crit, b64, jwk, jku, x5u or x5c in the header."
        case .keyIDInvalid: "kid is a string of 1 to 64 characters."
        case .unknownKey: "kid is the ID of a usable key in Apple's key set."
        case .signatureInvalid: "The signature is of the key that kid names."
        case .notAnIdentityToken: "An identity token, which has no events."
        case .notANotification: "A notification, which has events."
        case .claimMissing: "Every claim that Apple always sends."
        case .claimMalformed: "Claims of the right type, and times within the years 1970 to 9999."
        case .issuerMismatch: "iss is one of APPLE_ISSUERS."
        case .audienceMismatch: "aud is one configured client ID, the one that the request names."
        case .tokenExpired: "exp is not past."
        case .tokenNotYetValid: "nbf is not later than the clock of this service."
        case .issuedInFuture: "iat, auth_time and event_time are not later than the clock of this service."
        case .subjectInvalid: "sub is a string of 1 to 255 characters without control characters."
        case .nonceMissing: "A nonce in the token, because the request has one."
        case .nonceMismatch: "The nonce of the request, or its SHA-256 in hexadecimal."
        case .codeHashMissing: "A c_hash in the token, because the request has a code."
        case .codeHashMismatch: "c_hash is the hash of the code in the request."
        case .accessTokenHashMissing: "An at_hash in the token, because the request has an access token."
        case .accessTokenHashMismatch: "at_hash is the hash of the access token in the request."
        case .eventsMalformed: "Events in one of the forms that Apple has used."
        }
    }
}
