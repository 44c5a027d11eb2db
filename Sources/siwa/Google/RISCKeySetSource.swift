import AppleIDClient
import AsyncHTTPClient
import KeySets
import NIOCore
import StrictJSON

/// Fetches the keys of Google's security event tokens from the URL in Google's configuration.
///
/// Both documents are fetched each time: sets are fetched about once an hour, and a stored URL would outlive
/// a change of the configuration.
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
            // Keys that came without TLS would let an attacker on the network path sign events.
            url.hasPrefix("https://") || !isSecure
        else { throw KeySetFetchError(.malformed, detail: "no jwks_uri") }
        return try await HTTPKeySetSource(client: client, url: url).fetch(ifNoneMatch: entityTag)
    }
}
