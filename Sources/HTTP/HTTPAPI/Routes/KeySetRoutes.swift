import HTTPEngine
import NIOHTTP1
import OAuth
import StrictJSON

/// The public keys that verify what this service signs.
final class KeySetRoutes: Sendable {
    private let keys: SigningKeys

    init(keys: SigningKeys) {
        self.keys = keys
    }

    /// `GET /v1/jwks.json` and `GET /oauth/jwks.json` (RFC 7517 §5): the same set at both.
    func keySet() -> RouteResult {
        .later { [keys] in
            var json = JSONWriter(reservingCapacity: 2048)
            json.beginObject()
            json.name("keys")
            json.beginArray()
            for key in try await keys.published() {
                json.element()
                json.value(.object(key))
            }
            json.endArray()
            json.endObject()
            return .publicDocument(json.bytes)
        }
    }
}

extension HTTPResponse {
    /// Returns a document that caches may keep for an hour. A key is published a day before it signs.
    static func publicDocument(_ body: [UInt8]) -> HTTPResponse {
        var response = HTTPResponse(status: .ok, contentType: "application/json", body: body)
        response.fields = [("cache-control", "public, max-age=3600")]
        return response
    }
}
