import AppleIDClient
import AsyncHTTPClient
import KeySets
import NIOCore
import StrictJSON

/// Fetches the keys of Google's security event tokens from where Google's configuration says that they are.
///
/// Both documents are fetched each time: sets are fetched once an hour or so, and a URL that was kept would
/// outlive a change of it.
struct RISCKeySetSource: KeySetSource {
    private let client: HTTPClient
    private let configuration: HTTPKeySetSource
    private let isSecure: Bool

    init(client: HTTPClient, endpoints: GoogleEndpoints) {
        self.client = client
        configuration = HTTPKeySetSource(client: client, url: endpoints.riscConfiguration)
        isSecure = endpoints.riscConfiguration.hasPrefix("https://")
    }

    func fetch(ifNoneMatch entityTag: String?) async throws -> KeySetResponse {
        let response = try await configuration.fetch(ifNoneMatch: nil)
        guard response.status == 200 else {
            throw KeySetFetchError(.statusUnexpected, detail: "configuration: \(response.status)")
        }
        guard let document = try? JSONValue(parsing: response.body),
            let url = document["jwks_uri"]?.string, url.utf8.count <= 2048,
            // Keys that came without TLS would let anyone on the way sign events.
            url.hasPrefix("https://") || !isSecure
        else { throw KeySetFetchError(.malformed, detail: "no jwks_uri") }
        return try await HTTPKeySetSource(client: client, url: url).fetch(ifNoneMatch: entityTag)
    }
}
