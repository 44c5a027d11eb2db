import AppleAccounts
import AuthorizationServer

/// Lists the OAuth clients. Mistakes in their declaration are reported by `ConfigurationCheck`.
struct OAuthClientsCheck: DoctorCheck {
    static let name = "OAuth clients"

    let settings: ServiceSettings

    func run() -> [Finding] {
        guard let oauth = settings.oauth else { return [] }
        let ids = oauth.clients.clients.map(\.id.rawValue).joined(separator: ", ")
        return [.good(Self.name, "\(ids); the issuer is \(oauth.issuer)")]
    }
}
