import AppleAccounts
import AppleIDClient
import AsyncHTTPClient
import Encodings
import NIOCore
import NIOHTTP1

/// Checks that Apple's page accepts each client ID for browsers, together with the return URL of this
/// service. Only loads the page; no user signs in.
struct ServicesIDsCheck: DoctorCheck {
    static let name = "Services ID"

    let settings: ServiceSettings
    let client: HTTPClient
    let isReachable: Bool

    func run() async -> [Finding] {
        guard let publicURL = settings.publicURL, !settings.webClients.isEmpty else { return [] }
        guard isReachable else { return [.skipped(Self.name, "Apple has not answered")] }
        var findings: [Finding] = []
        for clientID in settings.webClients.keys.sorted() {
            let trial = ServicesIDTrial(
                clientID: clientID.rawValue, returnURL: publicURL + "/v1/web/callback",
                page: await page(for: clientID, publicURL: publicURL))
            findings.append(trial.finding)
        }
        return findings
    }

    /// Returns `nil` when no complete response arrived.
    private func page(for clientID: ClientID, publicURL: String) async -> ServicesIDTrial.Page? {
        let query = FormEncoding.encode([
            ("client_id", clientID.rawValue), ("redirect_uri", publicURL + "/v1/web/callback"),
            ("response_type", "code id_token"), ("response_mode", "form_post"), ("scope", "name email"),
            ("state", "siwa-doctor"), ("nonce", "siwa-doctor"),
        ])
        do {
            var request = HTTPClientRequest(url: "\(settings.appleEndpoints.authorize)?\(query)")
            request.nameDoctor()
            request.headers.add(name: "Accept", value: "text/html")
            let response = try await client.execute(request, timeout: .seconds(10))
            let body = try await response.body.collect(upTo: 1_048_576)
            return ServicesIDTrial.Page(
                status: Int(response.status.code), text: String(buffer: body))
        } catch {
            return nil
        }
    }
}
