import AuthorizationServer
import Encodings

/// Checks that Apple accepts the form of the public URL. Does not check that the URL is reachable.
struct PublicURLCheck: DoctorCheck {
    static let name = "public URL"

    let settings: ServiceSettings

    func run() -> [Finding] {
        guard let publicURL = settings.publicURL, let address = WebAddress(publicURL) else {
            return [
                .note(
                    Self.name,
                    "SIWA_PUBLIC_URL is not set, so the URL for Apple's notifications is not known",
                    advice: "Set it to the public URL of this service, and register "
                        + "<it>/v1/apple/notifications at developer.apple.com (Identifiers, your app, Sign in with "
                        + "Apple, Edit).")
            ]
        }
        if settings.environment == .development, address.isLoopback {
            return [
                .note(
                    Self.name, "it is an address of this machine, which is enough for development",
                    advice:
                        "Apple's notifications and web sign-ins need an https URL with a public host name.")
            ]
        }
        var mistakes: [Finding] = []
        if !address.isSecure {
            mistakes.append(
                .wrong(
                    Self.name, "it is not https, but Apple sends notifications only over https",
                    advice:
                        "Put the service behind a proxy with a certificate, and set SIWA_PUBLIC_URL to its URL."
                ))
        }
        if address.isLocalOrNumeric {
            mistakes.append(
                .wrong(
                    Self.name, "it is a loopback name or an IP address, which Apple does not accept",
                    advice: "Set SIWA_PUBLIC_URL to a public host name."))
        }
        if let issuer = settings.oauth?.issuer.text, WebAddress(issuer)?.host != address.host {
            mistakes.append(
                .wrong(
                    Self.name,
                    "its host is not that of the issuer \(issuer), so no browser can sign in for an OAuth client: "
                        + "the cookie that is set at /oauth/authorize does not come back with Apple's response",
                    advice: "Use the same host in SIWA_PUBLIC_URL and oauth.issuer."))
        }
        guard mistakes.isEmpty else { return mistakes }
        guard settings.environment == .production, settings.trustedProxies.isEmpty else {
            return [.good(Self.name, publicURL)]
        }
        // The service does not support TLS, so an https URL requires a proxy.
        return [
            .good(Self.name, publicURL),
            .note(
                Self.name, "SIWA_TRUSTED_PROXIES is empty, but a proxy answers at an https URL",
                advice: "Name the addresses of all proxies there, for example 127.0.0.1,::1 for one on this "
                    + "machine. Otherwise all users count as one address, and one guesser slows all of them down."
            ),
        ]
    }
}
