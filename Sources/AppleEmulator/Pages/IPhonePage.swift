import EmulatorServer
import StrictJSON

/// The values that an iPhone app receives from Apple's sheet, and the request of its backend to the service.
struct IPhonePage {
    /// Bytes.
    static let longestNonce = 512

    private let person: UserLine
    private let clientID: String
    private let isFirst: Bool
    private let members: String
    private let command: String
    private let nonce: String
    private let longestNonce = Self.longestNonce
    private let hidden: [PageField]

    /// - Parameter token: The CSRF token of the form.
    init(user: EmulatedUser, minted: MintedIdentityToken, notificationURL: String?, token: String) {
        (person, clientID, nonce) = (UserLine(user), minted.clientID, minted.nonce ?? "")
        isFirst = minted.user != nil
        members = minted.signIn.members.map { member in
            "\(member.name)\n\(member.value.string ?? String(decoding: member.value.serialized(), as: UTF8.self))"
        }.joined(separator: "\n\n")
        command = Self.command(for: minted, notificationURL: notificationURL)
        hidden = [
            PageField("token", token), PageField("action", AccountsRoute.signIn),
            PageField("sub", user.subject), PageField("client_id", minted.clientID),
        ]
    }

    var response: EndpointResponse {
        PageFrame(title: "Sign in on an iPhone", template: "iphone", values: self, isWide: true).response
    }

    private static func command(for minted: MintedIdentityToken, notificationURL: String?) -> String {
        var json = minted.signIn
        // Without `client_id`, the service uses its first configured client ID.
        json["client_id"] = .string(minted.clientID)
        let path = "/v1/apple/notifications"
        let service = notificationURL.flatMap { $0.hasSuffix(path) ? String($0.dropLast(path.count)) : nil }
        // A shell keeps every character between single quotes, except a single quote.
        let quoted = String(decoding: JSONValue.object(json).serialized(), as: UTF8.self)
            .replacing("'", with: #"'\''"#)
        return """
            curl -sS \(service ?? "$SIWA")/v1/sign-ins -H "Authorization: Bearer $SIWA_KEY" --json '\(quoted)'
            """
    }
}
