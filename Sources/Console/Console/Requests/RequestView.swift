import Encodings
import HTTPAPI
import StrictJSON

/// Values of the page of one request.
struct RequestView: Sendable {
    struct Refusal: Sendable {
        let check: String
        let expected: String
        let found: String?
        let page: DocumentationPlace
        /// The row of the code on the page of all codes.
        let link: String?
    }

    /// A token that the request carried, with what came beside it, for the inspector.
    struct Carried: Sendable {
        let token: String
        let nonce: String?
        let authorizationCode: String?
        let accessToken: String?

        init?(_ exchange: KeptExchange?) {
            guard let exchange, let token = TokenText.carried(by: exchange) else { return nil }
            let body = (try? JSONValue(parsing: exchange.body))?.object
            self.token = token
            nonce = body?["nonce"]?.string
            let isIdentityToken = body?["identity_token"] != nil
            authorizationCode = isIdentityToken ? body?["authorization_code"]?.string : nil
            accessToken = isIdentityToken ? body?["access_token"]?.string : nil
        }
    }

    let number: Int
    let title: String
    let time: String
    let status: Int
    let style: String
    let code: String?
    let reason: String?
    let grantType: String?
    let caller: String?
    let client: String?
    let isUnknown: Bool
    let duration: String
    let requestID: String
    let traceID: String?
    let refusal: Refusal?
    let command: String
    /// Sentences about the steps before the command; `nil` for a complete command.
    let steps: String?
    /// Bodies, in development.
    let body: String?
    let response: String?
    let target: String?
    let canReplay: Bool
    let carried: Carried?
    let csrf: String

    init(_ request: RecentRequest, address: String, canReplay: Bool, csrf: String) {
        number = request.number
        title = "\(request.method) \(request.route)"
        var bytes: [UInt8] = []
        RFC3339.append(milliseconds: request.time, to: &bytes)
        time = String(decoding: bytes, as: UTF8.self)
        status = request.status
        style = RequestList.style(request)
        (code, reason, grantType) = (request.code, request.reason, request.grantType)
        (caller, client, isUnknown) = (request.caller, request.client, !request.isProven)
        duration = RequestList.duration(request.microseconds)
        (requestID, traceID) = (request.requestID, request.traceID)
        refusal = request.refusal.map { refusal in
            Refusal(
                check: refusal.check, expected: refusal.expected,
                found: refusal.found.map { FoundValue.text($0, at: request.time / 1000) },
                page: CodeList.place(of: request),
                link: CodeList.link(for: request))
        }
        let command = CurlCommand(request, address: address)
        (self.command, steps) = (command.text, command.steps)
        body = request.exchange.map { Self.text($0.body) }
        response = request.exchange.map { Self.text($0.response) }
        target = request.exchange?.target
        carried = Carried(request.exchange)
        self.canReplay = canReplay && request.exchange.map { !$0.isBodyCut } ?? false
        self.csrf = csrf
    }

    private static func text(_ bytes: [UInt8]) -> String {
        bytes.isEmpty ? "(empty)" : String(decoding: bytes, as: UTF8.self)
    }
}
