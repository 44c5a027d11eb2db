import EmulatorServer
public import StrictJSON

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
    /// Fields of the form that sends the sign-in to the service; empty without a backend.
    private let sent: [PageField]
    private let canSend: Bool

    /// - Parameters:
    ///   - token: The CSRF token of the form.
    ///   - canSend: True if the fake has a backend of the app.
    init(
        user: EmulatedUser, minted: MintedIdentityToken, notificationURL: String?, token: String,
        canSend: Bool
    ) {
        (person, clientID, nonce) = (UserLine(user), minted.clientID, minted.nonce ?? "")
        isFirst = minted.user != nil
        members = minted.signIn.members.map { member in
            "\(member.name)\n\(member.value.string ?? String(decoding: member.value.serialized(), as: UTF8.self))"
        }.joined(separator: "\n\n")
        let json = Self.json(minted)
        command = Self.command(for: json, notificationURL: notificationURL)
        self.canSend = canSend
        sent = [
            PageField("token", token), PageField("action", AccountsRoute.send), PageField("sign_in", json),
        ]
        hidden = [
            PageField("token", token), PageField("action", AccountsRoute.signIn),
            PageField("sub", user.subject), PageField("client_id", minted.clientID),
        ]
    }

    var response: EndpointResponse {
        PageFrame(title: "Sign in on an iPhone", template: "iphone", values: self, isWide: true).response
    }

    /// The body that the backend posts.
    private static func json(_ minted: MintedIdentityToken) -> String {
        var json = minted.signIn
        // Without `client_id`, the service uses its first configured client ID.
        json["client_id"] = .string(minted.clientID)
        return String(decoding: JSONValue.object(json).serialized(), as: UTF8.self)
    }

    private static func command(for json: String, notificationURL: String?) -> String {
        let path = "/v1/apple/notifications"
        let service = notificationURL.flatMap { $0.hasSuffix(path) ? String($0.dropLast(path.count)) : nil }
        // A shell keeps every character between single quotes, except a single quote.
        let quoted = json.replacing("'", with: #"'\''"#)
        return """
            curl -sS \(service ?? "$SIWA")/v1/sign-ins -H "Authorization: Bearer $SIWA_KEY" --json '\(quoted)'
            """
    }
}

/// The backend of an app that runs beside the fake Apple: posts a sign-in to the service, as the backend of a real
/// app does.
public typealias AppBackend = @Sendable (_ signIn: JSONObject) async throws -> AppBackendAnswer

/// The response of the service to the backend.
public struct AppBackendAnswer: Sendable {
    let status: Int
    let body: JSONValue?
    /// URL of a page that shows the result.
    let page: String?

    public init(status: Int, body: JSONValue?, page: String?) {
        (self.status, self.body, self.page) = (status, body, page)
    }
}

/// The page after a sign-in on the fake iPhone was sent to the service.
struct SentPage {
    private let isTaken: Bool
    private let status: Int
    private let body: String
    private let page: String?

    init(_ answer: AppBackendAnswer) {
        isTaken = (200..<300).contains(answer.status)
        (status, page) = (answer.status, answer.page)
        body = answer.body?.indented() ?? "no JSON"
    }

    var response: EndpointResponse {
        PageFrame(title: "Sent to siwa", template: "sent", values: self, isWide: true).response
    }
}
