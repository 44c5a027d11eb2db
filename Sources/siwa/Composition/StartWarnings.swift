import AppleAccounts
import AppleIDClient
import AuthorizationServer
import WebOrigins

/// Settings that are allowed but almost certainly mistakes. Logged at each start.
struct StartWarnings: Equatable {
    let texts: [String]

    init(_ settings: ServiceSettings) {
        var texts: [String] = []
        if let issuer = settings.oauth?.issuer.text, let publicURL = settings.publicURL,
            let issuerHost = WebAddress(issuer)?.host, let publicHost = WebAddress(publicURL)?.host,
            issuerHost != publicHost
        {
            texts.append(
                "oauth.issuer has the host \(issuerHost) and SIWA_PUBLIC_URL \(publicHost): no OAuth client can sign "
                    + "users in. Use one host for both")
        }
        for (team, location) in settings.signingKeys.sorted(by: { $0.key < $1.key }) {
            guard case .file(let path, let keyID?) = location,
                let named = SigningKeyLocation.keyID(inFileName: path), named != keyID
            else { continue }
            texts.append(
                "the key file of team \(team.rawValue) is named for key \(named), but the key ID is set to \(keyID): "
                    + "Apple refuses the key if it is not \(keyID). Remove the key ID, so that the file's name counts"
            )
        }
        self.texts = texts
    }
}
