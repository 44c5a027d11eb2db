import EmulatorServer
public import StrictJSON

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
