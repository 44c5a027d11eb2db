/// The mistakes of a new client, with the names of the options of `siwa client new`: there is no
/// configuration yet.
struct NewClientMistakes: CustomStringConvertible {
    let description: String

    /// - Parameter id: ID of the client, which precedes each mistake of a configuration.
    init(_ mistakes: ConfigurationMistakes, id: String) {
        let lines = mistakes.list.map { Self.option(of: $0, id: id) }
        description =
            lines.count == 1
            ? lines[0]
            : "\(lines.count) options are wrong:\n" + lines.map { "  - \($0)" }.joined(separator: "\n")
    }

    /// Replaces the name of a member in the configuration by the name of the option.
    private static func option(of mistake: String, id: String) -> String {
        for (member, option) in options where mistake.hasPrefix("\(member): ") {
            let text = mistake.dropFirst(member.count + 2)
            let client = "of \(id) "
            return text.hasPrefix(client) ? "\(option) \(text.dropFirst(client.count))" : "\(option): \(text)"
        }
        return mistake
    }

    private static let options = [
        ("oauth.clients.id", "--id"), ("oauth.clients.kind", "--kind"), ("oauth.clients.app", "--app"),
        ("oauth.clients.name", "--name"), ("oauth.clients.scopes", "--scope"), ("oauth.scopes", "--scope"),
        ("oauth.scopes.name", "--scope"), ("oauth.scopes.text", "--scope"),
        ("oauth.clients.imply_openid", "--imply-openid"), ("oauth.clients.bundle_id", "--bundle-id"),
        ("oauth.clients.app_check", "--app-check"),
        ("oauth.clients.first_attesting_version", "--first-attesting-version"),
        ("oauth.clients.redirect_uris", "--redirect-uri"),
        ("oauth.clients.platform", "--platform"), ("oauth.clients.project_id", "--project-id"),
        ("oauth.clients.google_client_ids", "--google-client-id"), ("oauth.clients.app_flip", "--app-flip"),
        ("oauth.clients.secret_hashes", "--with-secret"),
    ]
}
