import AppAttestation
import AppleAccounts
import AppleIdentity
import AuthorizationServer
import Commits
import EventDelivery
import HTTPEngine
import KeySets
import NIOHTTP1
import OAuth
import SignIn
import StrictJSON

/// An error as the caller receives it (RFC 9457): a status, a stable code and fixed texts.
///
/// A problem repeats no part of the request except the name of an unknown member or parameter, so it contains
/// no token, claim value or secret.
struct Problem: Error, Sendable, Equatable {
    let type: ProblemType
    let detail: String
    /// Name of the faulty member or parameter: a name from this API, or, if the fault is an unrecognized
    /// name, that name as the request spelled it.
    let subject: Subject?
    /// Number of seconds until the caller should retry (RFC 9110 §10.2.3).
    let retryAfter: Int?
    /// The resource's allowed methods (RFC 9110 §10.2.1).
    let allow: String?
    /// The cause of an App Check refusal, for programs.
    let appCheckCause: AppCheckCause?
    /// The code of the component that makes the service unavailable, for operators.
    var cause: String?

    enum Subject: Sendable, Equatable {
        case member(String)
        case parameter(String)
    }

    /// - Parameters:
    ///   - detail: Replaces the problem type's detail.
    ///   - retryAfter: Replaces the problem type's value.
    init(
        _ type: ProblemType, detail: String? = nil, subject: Subject? = nil, retryAfter: Int? = nil,
        allow: String? = nil, appCheckCause: AppCheckCause? = nil
    ) {
        (self.type, self.detail, self.subject) = (type, detail ?? type.detail, subject)
        (self.retryAfter, self.allow) = (retryAfter ?? type.retryAfter, allow)
        self.appCheckCause = appCheckCause
    }

    init(_ code: ProblemCode, subject: Subject? = nil, retryAfter: Int? = nil, allow: String? = nil) {
        self.init(code.type, subject: subject, retryAfter: retryAfter, allow: allow)
    }

    var status: HTTPResponseStatus { type.status }
    var code: String { type.code }
}

/// The problem document (RFC 9457 §3). Its `type` identifies the problem, but is not a URL to fetch.
struct ProblemBody: JSONBody {
    static var schemaName: String { "Problem" }
    static var schemaText: String { "RFC 9457. It contains no values of the request." }
    let problem: Problem
    let requestID: String

    private var member: String? { if case .member(let name)? = problem.subject { name } else { nil } }
    private var parameter: String? { if case .parameter(let name)? = problem.subject { name } else { nil } }

    static func members<C: MemberCourse>(_ member: inout C) where C.Value == Self {
        member(
            "type",
            [
                "format": "uri", "pattern": "^urn:siwa:problem:[a-z0-9_]+$",
                "description": "A URI for the kind of problem (RFC 9457 §3.1.1).",
            ]
        ) { "urn:siwa:problem:\($0.problem.code)" }
        member("title", .nonEmpty("A summary of the kind of problem.")) { $0.problem.type.title }
        member("status", .within(400...599, "The HTTP status.")) { Int($0.problem.status.code) }
        member("code", .problemCode) { $0.problem.code }
        member("detail", .nonEmpty("What was expected, what was found, and what to do.")) {
            $0.problem.detail
        }
        member("member", .nonEmpty("The affected member of the body.")) { $0.member }
        member("parameter", .nonEmpty("The affected parameter of the query.")) { $0.parameter }
        member(
            "cause",
            .nonEmpty(
                "With `attestation_required` and `attestation_invalid`: the cause, like `proof_missing` or "
                    + "`counter_not_increased`. At `/readyz`: that of the component, like `full` or `timed_out`."
            )
        ) { $0.problem.appCheckCause?.code ?? $0.problem.cause }
        member(
            "re_attest",
            "With the `cause` of App Check: true if the app can go on with a new key that it attests."
        ) { $0.problem.appCheckCause?.canReAttest }
        member("request_id", .length(1...64, "The ID of the request, as in `X-Request-ID`.")) { $0.requestID }
    }
}

extension JSONSchema {
    fileprivate static var problemCode: JSONSchema {
        .component("ProblemCode") {
            .words(ProblemType.all.map(\.code), "Stable. Clients should depend only on this code.")
        }
    }
}

/// Problems about unknown names. They repeat only a string that has the form of a name, because any other
/// string could be a secret.
extension Problem {
    static func unknownMember(_ name: JSONName) -> Problem {
        let text = name.string
        return Problem(.memberUnknown, subject: isPlain(text.utf8) ? .member(text) : nil)
    }

    /// - Parameter name: The name in the query, still percent-encoded.
    static func unknownParameter(_ name: some Collection<UInt8>) -> Problem {
        Problem(
            .parameterUnknown,
            subject: isPlain(name) ? .parameter(String(decoding: name, as: UTF8.self)) : nil)
    }

    private static func isPlain(_ name: some Collection<UInt8>) -> Bool {
        (1...32).contains(name.count)
            && name.allSatisfy(plainCharacters.contains)
    }

    private static let plainCharacters = ASCIISet(lettersDigitsAnd: "_-")
}

extension Problem {
    /// Maps an error from a lower module to HTTP. Each type has its own exhaustive switch. An error without a
    /// mapping is a bug in this service.
    init(describing error: any Error) {
        self =
            switch error {
            case let problem as Problem: problem
            case let error as AppleTokenError: Problem(error.code.type)
            case let error as KeySetError: error.problem
            case let error as AccountRefusal: Problem(error.code.type)
            case let refusal as AppCheckRefusal: refusal.problem
            case let error as StorageError: error.problem
            case is OverloadedError: Problem(.overloaded)
            case is SigningKeysShut: Problem(.signingKeysShut)
            case is CallerForbidden: Problem(.callerForbidden)
            case is NonceNotMinted: Problem(.nonceNotMinted)
            case let error as WebRefusal: Problem(error.code.type)
            case is EventCursorAhead: Problem(.cursorAhead)
            case is AppAttestNotConfigured: Problem(.appAttestNotConfigured)
            case is UnknownClientID: Problem(.clientIDUnknown)
            case let refusal as AppFlipRefusal: refusal.problem
            case is GrantNotFound: Problem(.grantNotFound)
            case is ReceiverPaused: Problem(.receiverPaused)
            case is SearchPositionUnknown: Problem(.parameterMalformed, subject: .parameter("after"))
            case is DisablingOver: Problem(.disablingOver)
            default: Problem(.internalError)
            }
    }
}

extension KeySetError {
    var problem: Problem {
        switch code {
        case .unknownKey: Problem(AppleTokenError.Code.unknownKey.type)
        case .keysUnavailable: Problem(.keysUnavailable, retryAfter: retryAfter)
        }
    }
}

extension StorageError {
    var problem: Problem {
        switch code {
        case .unavailable, .busy, .full, .readOnly, .corrupted, .schemaTooNew, .migrationFailed:
            Problem(.storageUnavailable)
        // The store received a value that no database can store, although higher layers had accepted the
        // value. This is a bug in this service, so retrying does not help.
        case .valueRefused: Problem(.internalError)
        }
    }
}

extension AppCheckRefusal {
    var problem: Problem { Problem(code.type, detail: explanation, appCheckCause: cause) }
}

extension AppFlipRefusal {
    var problem: Problem {
        switch self {
        case .redirectURIMismatch: Problem(.redirectURIMismatch, subject: .member("redirect_uri"))
        case .callerForbidden: Problem(.callerForbidden)
        case .decisionMissing: Problem(.memberMissing, subject: .member("decision"))
        case .decisionUnknown: Problem(.memberMalformed, subject: .member("decision"))
        case .identityAmbiguous: Problem(.memberMalformed, subject: .member("account_id"))
        }
    }
}

extension RequestRefusal {
    /// The problem code that the client receives before the engine closes the connection.
    var problemCode: ProblemCode {
        switch self {
        case .malformed: .requestMalformed
        case .headerTooLarge: .headerTooLarge
        case .bodyTooLarge: .bodyTooLarge
        case .timedOut: .requestTimeout
        case .overloaded: .overloaded
        }
    }
}

extension WebFailure {
    /// Creates the failure that the app's page receives, with the kind and the stable code of the problem.
    init(_ problem: Problem) {
        self =
            switch problem.status {
            case .unauthorized: .invalidIdentityToken(problem.code)
            case .serviceUnavailable: .temporarilyUnavailable(problem.code)
            case .badRequest: .invalidRequest(problem.code)
            default: .signInRefused(problem.code)
            }
    }
}

extension PercentEncoding.Failure {
    /// - Parameter malformed: The code for any failure except U+0000.
    func problem(_ malformed: ProblemCode, subject: Problem.Subject? = nil) -> Problem {
        switch self {
        case .malformed: Problem(malformed, subject: subject)
        case .characterNotAllowed: Problem(.characterNotAllowed, subject: subject)
        }
    }
}

extension HTTPResponse {
    static func problem(_ problem: Problem, requestID: String) -> HTTPResponse {
        // Caches may store a 404 by default (RFC 9110 §15.1), which would hide a resource created later.
        var response = HTTPResponse(
            status: problem.status, contentType: "application/problem+json",
            body: ProblemBody(problem: problem, requestID: requestID).json(reservingCapacity: 384),
            forbidsCaching: true)
        response.code = problem.code
        if let seconds = problem.retryAfter {
            response.fields = [("retry-after", String(seconds))]
        } else if let allow = problem.allow {
            response.fields = [("allow", allow)]
        } else if problem.code == ProblemCode.callerUnauthenticated.rawValue {
            response.fields = [("www-authenticate", "Bearer realm=\"siwa\"")]
        }
        return response
    }
}
