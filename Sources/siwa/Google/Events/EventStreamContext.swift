import AsyncHTTPClient
import Encodings
import Foundation
import WebOrigins

/// Dependencies of the commands of `siwa google risc`, after all checks.
struct EventStreamContext: Sendable {
    let client: EventStreamClient
    private let url: String?
    private let location: DatabaseLocation?

    /// Throws `.keyMisdirected` for a key of Google's at another server.
    init(
        key: ServiceAccountKey, endpoints: GoogleEndpoints, url: String?, location: DatabaseLocation?,
        http: HTTPClient,
        secondsSince1970: @escaping @Sendable () -> Int64 = { Int64(Date().timeIntervalSince1970) }
    ) throws(EventStreamError) {
        guard endpoints == .google || !key.isOfGoogle else {
            throw EventStreamError(
                .keyMisdirected,
                "\(key.email) is an account of Google itself, and its token is for Google alone; take a key of "
                    + "the fake Google (POST /control/service-accounts), or leave --google-url and "
                    + "SIWA_GOOGLE_BASE_URL out")
        }
        client = EventStreamClient(
            client: http, endpoints: endpoints, key: key,
            secondsSince1970: secondsSince1970)
        (self.url, self.location) = (url, location)
    }

    /// The address of this service that receives the events. Throws `.urlRefused`.
    func receiverURL() throws(EventStreamError) -> String {
        guard let url else {
            throw EventStreamError(
                .urlRefused,
                "no client with google_client_ids is configured, so this service refuses Google's events; "
                    + "configure one, or pass --url")
        }
        guard let address = WebAddress(url), address.query == nil else {
            throw EventStreamError(
                .urlRefused, "the receiver must be an https URL without a query, not \(url.forTerminal())")
        }
        guard client.endpoints != .google || (address.isSecure && !address.isLocalOrNumeric) else {
            throw EventStreamError(
                .urlRefused,
                "Google sends events only to an https URL with a public host name, not to \(url.forTerminal())"
            )
        }
        return url
    }

    /// Throws `.verificationMissing`.
    func database() throws(EventStreamError) -> DatabaseLocation {
        guard let location else {
            throw EventStreamError(
                .verificationMissing, "the database of the service is not known; pass --database")
        }
        return location
    }
}
