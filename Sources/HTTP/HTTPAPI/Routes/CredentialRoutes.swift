import AppleAccounts
import Commits
import HTTPEngine
import NIOHTTP1
import SignIn
import StrictJSON

/// The routes that return credential states. For an unknown credential, they return the state `notFound`
/// instead of a 404.
final class CredentialRoutes: Sendable {
    let useCases: SignInUseCases

    init(useCases: SignInUseCases) {
        self.useCases = useCases
    }

    /// Handles `GET /v1/credentials/{sub}?client_id=`.
    func one(_ request: HTTPRequest) throws -> Step<HTTPResponse> {
        let clientID = try Query(request, of: .getCredential).required("client_id")
        let subject = request.parameter ?? ""
        let credential = try useCases.credential(subject: subject, clientID: clientID, allowed: request.scope)
        return credential.map {
            EntityTag.response($0.json(reservingCapacity: 192), unless: request.ifNoneMatch)
        }
    }

    /// Handles `POST /v1/credentials/query`.
    func many(_ request: HTTPRequest) throws -> Step<HTTPResponse> {
        let query = try CredentialQuery(parsing: request.body)
        return .later { [useCases] in
            let credentials = try await useCases.credentials(
                subjects: query.subjects, clientID: query.clientID, allowed: request.scope)
            let list = CredentialList(
                credentials: zip(query.subjects, credentials).map {
                    CredentialOfSubject(subject: $0, credential: $1)
                })
            return .json(.ok, list, reservingCapacity: 64 + 224 * query.subjects.count)
        }
    }
}
