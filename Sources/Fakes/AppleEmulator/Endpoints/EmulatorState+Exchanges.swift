public import EmulatorServer
import Encodings
import HTTPTypes
import Hummingbird
import StrictJSON
import Synchronization

extension EmulatorState {
    /// The latest requests to Apple's endpoints, and the notifications, oldest first: at most 50 requests
    /// that repeat without user action, and 50 other exchanges.
    public var exchanges: [Exchange] { world.withLock { $0.exchanges.exchanges } }

    /// The start of an exchange. The exchange is recorded when it ends.
    var exchangeStart: ExchangeStart { ExchangeStart(at: clock.now()) }

    func record(
        _ endpoint: EmulatedEndpoint, _ request: Request, _ body: [UInt8], _ faulty: FaultyResponse,
        since start: ExchangeStart
    ) {
        let form = FormEncoding.decode(body) ?? []
        let (step, title) = Self.step(of: endpoint, request, form)
        let path = ShownText.url(request.uri.string)
        var shown = "\(request.method.rawValue) \(path)"
        if !form.isEmpty { shown += "\n\n\(ShownText.fields(form))" }
        let response = faulty.response
        let isCut = faulty.cut != nil
        var answer = isCut ? "the connection is cut, because of a fault" : "\(response.status)"
        for header in response.headers where header.name == "Location" {
            answer += "\nLocation: \(ShownText.url(header.value))"
        }
        if !isCut, response.contentType == EndpointResponse.jsonType {
            answer += "\n\(ShownText.body(response.body))"
        } else if !isCut, response.contentType != nil {
            answer += "\n\(response.contentType ?? ""), \(response.body.count) bytes"
        }
        record(
            step, title, request: shown, response: answer, status: isCut ? nil : response.status, since: start
        )
    }

    /// Records an exchange that the emulator itself begins, such as a notification.
    package func record(
        _ step: ExchangeStep, _ title: String, request: String, response: String, status: Int?,
        since start: ExchangeStart? = nil, requestID: String? = nil
    ) {
        let start = start ?? exchangeStart
        world.withLock { world in
            world.exchanges.add(
                step, title, request: request, response: response, status: status, since: start,
                requestID: requestID)
        }
        observer.tell()
    }

    /// The `siwa doctor` user agent. The code with which `siwa doctor` tests a client secret has the same
    /// prefix. This test involves no user, and Apple refuses the code as expected, so developers need not see
    /// the exchange.
    private static let doctor = "siwa-doctor"

    private static func step(
        of endpoint: EmulatedEndpoint, _ request: Request, _ form: [(name: String, value: String)]
    ) -> (ExchangeStep, String) {
        let isOfDoctor = request.headers[.userAgent] == doctor
        func value(_ name: String) -> String? { form.first { $0.name == name }?.value }
        switch endpoint {
        case .keys where isOfDoctor: return (.appleKeysTrial, "Try to fetch Apple's keys")
        case .keys: return (.appleKeys, "Fetch Apple's keys")
        case .discovery: return (.appleMetadata, "Fetch Apple's configuration")
        case .authorize where isOfDoctor: return (.applePageTrial, "Try Apple's page")
        case .authorize:
            guard request.method == .post else { return (.appleAuthorization, "Open Apple's page") }
            if value("cancel") != nil { return (.appleAuthorization, "The user cancels") }
            if value("allow") != nil { return (.appleAuthorization, "The user agrees") }
            return (.appleAuthorization, "Choose an account")
        case .token:
            switch value("grant_type").flatMap({ GrantType(rawValue: $0) }) {
            case .refreshToken: return (.appleRefresh, "Check the refresh token")
            case .clientCredentials: return (.appleClientGrant, "Ask for a token of the team")
            case .authorizationCode where value("code")?.hasPrefix(doctor) == true:
                return (.appleSecretTrial, "Try the client secret")
            case .authorizationCode, nil: return (.appleCodeExchange, "Exchange Apple's code")
            }
        case .revoke: return (.appleRevocation, "Revoke Apple's token")
        case .migration: return (.appleMigration, "Ask for a user's transfer")
        case .attestationData: return (.appleReceipt, "Exchange a receipt")
        case .notifications: return (.appleNotification, "Send a notification")
        }
    }
}
