import AppAttestation
import AppleAccounts
import AppleIdentity
import AuthorizationServer
import OAuth

extension RecentRefusal {
    /// Longest value in bytes that is kept of a request.
    private static let longestFound = 200

    /// Says which check refused. The values of an error are bounded, because a client has sent them.
    init(_ error: any Error) {
        switch error {
        case let error as AppleTokenError:
            self.init(
                check: "\(error.step.rawValue) of the identity token or notification",
                expected: error.problem.detail, found: Self.bounded(error.detail))
        case let error as StorageError:
            // SQL without values, and the database's own code.
            self.init(
                check: "database", expected: error.problem.detail,
                found: Self.bounded("\(error.code.rawValue) \(error.databaseCode ?? "")"))
        case let error as TokenEndpointError: self.init(error.error)
        case let error as OAuthError: self.init(error)
        case let error as GuessingPaused: self.init(error.error.error)
        case let error as RequestsPaused: self.init(error.error.error)
        case let refusal as BearerRefusal: self.init(refusal.error)
        default:
            let problem = Problem(describing: error)
            self.init(check: problem.title, expected: problem.detail, found: problem.subject?.text)
        }
    }

    private init(_ error: OAuthError) {
        self.init(
            check: error.reason?.rawValue ?? error.code.rawValue,
            expected: error.code == .invalidGrant
                ? error.reason?.explanation ?? error.explanation : error.explanation,
            found: error.appCheckCause?.code)
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
