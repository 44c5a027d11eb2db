import AppleAccounts
import NIOHTTP1
import SignIn
import StrictJSON

/// Calls that erase an account and tell how far that is.
final class ErasureRoutes: Sendable {
    private let useCases: SignInUseCases

    init(useCases: SignInUseCases) {
        self.useCases = useCases
    }

    /// `DELETE /v1/accounts/{id}`: 200 when everything is done, 202 and a place to look when Apple still has to be asked.
    /// In both cases the person's data is gone here. Asked again it answers the same erasure.
    func erase(_ call: Call) throws -> RouteResult {
        _ = try Query(parsing: call.query, allowing: [])
        let id = call.parameter ?? ""
        return .later { [useCases] in
            let record = try await useCases.erase(id: id, allowed: call.scope)
            guard record.finishedAt == nil else { return Self.answer(.ok, record) }
            var answer = Self.answer(.accepted, record)
            answer.fields = [("location", "/v1/erasures/\(record.id.rawValue)")]
            return answer
        }
    }

    /// `GET /v1/erasures/{id}`
    func report(_ call: Call) throws -> RouteResult {
        _ = try Query(parsing: call.query, allowing: [])
        let id = call.parameter ?? ""
        return .later { [useCases] in
            guard let record = try await useCases.erasure(id: id, allowed: call.scope) else {
                throw Problem(.erasureNotFound)
            }
            return Self.answer(.ok, record)
        }
    }

    private static func answer(_ status: HTTPResponseStatus, _ record: ErasureRecord) -> Answer {
        var json = JSONWriter(reservingCapacity: 512)
        json.beginObject()
        json.name("erasure")
        json.value(record)
        json.endObject()
        return .json(status, json.bytes)
    }
}
