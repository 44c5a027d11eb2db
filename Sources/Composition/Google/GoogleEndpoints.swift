import AppleIDClient
import AsyncHTTPClient
import KeySets
import NIOCore
import StrictJSON

/// The URLs of Google's endpoints.
package struct GoogleEndpoints: Sendable, Equatable {
    /// The URL of the keys for Google's ID tokens.
    let certificates: String
    /// The URL of the configuration document, which names the key set for Google's security event tokens.
    let riscConfiguration: String
    /// The URL that this service reports security event tokens to.
    let eventsReport: String
    /// The base URL of the API that registers the receiver of Google's security events.
    let riscAPI: String

    /// The endpoints of Google itself.
    package static let google = GoogleEndpoints(
        certificates: "https://www.googleapis.com/oauth2/v3/certs",
        riscConfiguration: "https://accounts.google.com/.well-known/risc-configuration",
        eventsReport: "https://risc.googleapis.com/v1beta/events:report",
        riscAPI: "https://risc.googleapis.com/v1beta")

    /// Creates an emulator's endpoints, which all have the same origin. Returns `nil` unless the URL is an
    /// absolute http or https URL without a user, query or fragment.
    package init?(baseURL: String) {
        // The fake Apple also has a single origin, so `AppleEndpoints` can check this URL too.
        guard let base = AppleEndpoints(baseURL: baseURL)?.baseURL else { return nil }
        self.init(
            certificates: "\(base)/oauth2/v3/certs",
            riscConfiguration: "\(base)/.well-known/risc-configuration",
            eventsReport: "\(base)/v1beta/events:report", riscAPI: "\(base)/v1beta")
    }

    init(certificates: String, riscConfiguration: String, eventsReport: String, riscAPI: String) {
        self.certificates = certificates
        self.riscConfiguration = riscConfiguration
        self.eventsReport = eventsReport
        self.riscAPI = riscAPI
    }
}

/// Fetches the keys for Google's security event tokens from the URL in Google's configuration document.
///
/// Fetches both documents every time, because a fetch happens only about once an hour, and a cached URL would
/// miss a configuration change.
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
            // If the keys were fetched without TLS, an attacker on the network path could forge events.
            url.hasPrefix("https://") || !isSecure
        else { throw KeySetFetchError(.malformed, detail: "no jwks_uri") }
        return try await HTTPKeySetSource(client: client, url: url).fetch(ifNoneMatch: entityTag)
    }
}
