import AppleAccounts
import HTTPEngine
import NIOHTTP1
import SignIn
import StrictJSON

/// The routes that erase an account and report the progress of the erasure.
final class ErasureRoutes: Sendable {
    private let useCases: SignInUseCases

    init(useCases: SignInUseCases) {
        self.useCases = useCases
    }

    /// `DELETE /v1/accounts/{id}`: 200 when everything is done, or 202 with `Location` while revocations at
    /// Apple are left. In both cases the user's data is erased here. A repetition returns the same erasure.
    func erase(_ request: HTTPRequest) throws -> RouteResult {
        _ = try Query(parsing: request.query, allowing: [])
        let id = request.parameter ?? ""
        return .later { [useCases] in
            let record = try await useCases.erase(id: id, allowed: request.scope)
            guard record.finishedAt == nil else { return Self.response(.ok, record) }
            var response = Self.response(.accepted, record)
            response.fields = [("location", "/v1/erasures/\(record.id.rawValue)")]
            return response
        }
    }

    /// `GET /v1/erasures/{id}`
    func report(_ request: HTTPRequest) throws -> RouteResult {
        _ = try Query(parsing: request.query, allowing: [])
        let id = request.parameter ?? ""
        return .later { [useCases] in
            guard let record = try await useCases.erasure(id: id, allowed: request.scope) else {
                throw Problem(.erasureNotFound)
            }
            return Self.response(.ok, record)
        }
    }

    private static func response(_ status: HTTPResponseStatus, _ record: ErasureRecord) -> HTTPResponse {
        var json = JSONWriter(reservingCapacity: 512)
        json.beginObject()
        json.name("erasure")
        json.value(record)
        json.endObject()
        return .json(status, json.bytes)
    }
}
