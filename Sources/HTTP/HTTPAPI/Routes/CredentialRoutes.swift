import AppleAccounts
import HTTPEngine
import NIOHTTP1
import SignIn
import StrictJSON

/// The routes that return the state of credentials. `notFound` is a state, not a 404.
final class CredentialRoutes: Sendable {
    /// Number of subjects that one query may name.
    static let mostSubjects = 1000

    private let useCases: SignInUseCases

    init(useCases: SignInUseCases) {
        self.useCases = useCases
    }

    /// `GET /v1/credentials/{sub}?client_id=`
    func one(_ request: HTTPRequest) throws -> RouteResult {
        let clientID = try Query(parsing: request.query, allowing: ["client_id"]).required("client_id")
        let subject = request.parameter ?? ""
        let credential = try useCases.credential(subject: subject, clientID: clientID, allowed: request.scope)
        switch credential {
        case .now(let credential):
            return .response(Self.response(credential, unless: request.ifNoneMatch))
        case .later(let work):
            return .later { Self.response(try await work(), unless: request.ifNoneMatch) }
        }
    }

    private static func response(_ credential: Credential, unless ifNoneMatch: String?) -> HTTPResponse {
        var json = JSONWriter(reservingCapacity: 192)
        json.value(credential)
        return EntityTag.response(json.bytes, unless: ifNoneMatch)
    }

    /// `POST /v1/credentials/query`
    func many(_ request: HTTPRequest) throws -> RouteResult {
        let (clientID, subjects) = try Self.parse(request.body)
        return .later { [useCases] in
            let credentials = try await useCases.credentials(
                subjects: subjects, clientID: clientID, allowed: request.scope)
            var json = JSONWriter(reservingCapacity: 64 + 224 * subjects.count)
            json.beginObject()
            json.name("credentials")
            json.beginArray()
            for (subject, credential) in zip(subjects, credentials) {
                json.element()
                json.beginObject()
                json.member("sub", subject)
                json.members(of: credential)
                json.endObject()
            }
            json.endArray()
            json.endObject()
            return .json(.ok, json.bytes)
        }
    }

    private static func parse(_ bytes: [UInt8]) throws(Problem) -> (clientID: String, subjects: [String]) {
        var body = try RequestBody(bytes)
        var clientID: String?
        var subjects: [String]?
        while let name = try body.next() {
            switch name {
            case "client_id": clientID = try body.string("client_id")
            case "subs": subjects = try body.strings("subs", atMost: mostSubjects)
            default: throw Problem.unknownMember(name)
            }
        }
        guard let clientID else { throw Problem(.memberMissing, subject: .member("client_id")) }
        guard let subjects else { throw Problem(.memberMissing, subject: .member("subs")) }
        return (clientID, subjects)
    }
}
