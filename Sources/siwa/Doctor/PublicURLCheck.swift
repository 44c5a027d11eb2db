/// Whether Apple can reach this service, as far as its URL tells.
struct PublicURLCheck: DoctorCheck {
    static let name = "public URL"

    let settings: ServiceSettings

    func examine() -> [Finding] {
        guard let publicURL = settings.publicURL, let address = WebAddress(publicURL) else {
            return [
                .note(
                    Self.name,
                    "SIWA_PUBLIC_URL is not set: whether Apple can notify this service is not known",
                    advice: "Set it to where the world reaches this service, and register "
                        + "<it>/v1/apple/notifications at developer.apple.com (Identifiers, your app, Sign in with "
                        + "Apple, Edit).")
            ]
        }
        var mistakes: [Finding] = []
        if !address.isSecure {
            mistakes.append(
                .wrong(
                    Self.name, "it is not https, and Apple notifies over https only",
                    advice:
                        "Put the service behind a proxy with a certificate, and set SIWA_PUBLIC_URL to its URL."
                ))
        }
        if address.isLocalOrNumeric {
            mistakes.append(
                .wrong(
                    Self.name, "it names this machine or an address in numbers, which Apple does not take",
                    advice: "Set SIWA_PUBLIC_URL to a host name that the world can resolve."))
        }
        guard mistakes.isEmpty else { return mistakes }
        let notifications = Finding.note(
            Self.name, "notifications come to \(publicURL)/v1/apple/notifications",
            advice:
                "To be registered at developer.apple.com (Identifiers, your app, Sign in with Apple, Edit).")
        let callback = Finding.note(
            Self.name, "sign-ins on the web come to \(publicURL)/v1/web/callback",
            advice: "To be a Return URL of your Services ID at developer.apple.com.")
        return settings.webRedirectURLs.isEmpty ? [notifications] : [notifications, callback]
    }
}
