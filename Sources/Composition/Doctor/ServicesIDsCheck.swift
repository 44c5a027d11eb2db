import AppleAccounts
import AppleIDClient
import AsyncHTTPClient
import Encodings
import NIOCore
import NIOHTTP1

/// Checks that Apple's page accepts each browser client ID with this service's return URL. Loads the page
/// without signing in.
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

    /// Returns Apple's page; `nil` if no complete response arrived.
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

/// Apple's response to the start of a browser sign-in, for one client ID.
struct ServicesIDTrial {
    struct Page {
        let status: Int
        let text: String
    }

    let clientID: String
    let returnURL: String
    /// The loaded page; `nil` if no complete response arrived.
    let page: Page?

    /// The error on the page. Only pages with an error status are searched, because other pages may
    /// contain the same words.
    private var error: String? {
        ["invalid_client", "unauthorized_client", "invalid_request"].first {
            page?.text.contains($0) ?? false
        }
    }

    var finding: Finding {
        let name = ServicesIDsCheck.name
        guard let page else {
            return .note(
                name, "Apple's page did not answer for \(clientID)", advice: "Run siwa doctor again later.")
        }
        switch (page.status, error) {
        case (200..<400, nil):
            return .good(name, "Apple's page takes \(clientID) with \(returnURL)")
        case (400..<500, "invalid_request"):
            return .wrong(
                name, "Apple's page refuses the return URL \(returnURL) for \(clientID) (invalid_request)",
                advice: "Register exactly this URL as a Return URL of the Services ID at developer.apple.com "
                    + "(Identifiers, Services IDs), or correct SIWA_PUBLIC_URL.")
        case (400..<500, let error?):
            return .wrong(
                name,
                "Apple's page refuses \(clientID) (\(error)), so users cannot sign in with it in a browser",
                advice:
                    "It is a bundle ID, is misspelled, or has no Sign in with Apple. Write the Services IDs of the "
                    + "app into services_ids of the file, or APPLE_SERVICES_IDS.")
        case (_, let error):
            return .note(
                name,
                "Apple's page answered \(page.status) for \(clientID)"
                    + (error.map { " and contains the word \($0)" } ?? ""),
                advice: "Open the page of web sign-in in a browser and see whether Apple asks for an account."
            )
        }
    }
}
