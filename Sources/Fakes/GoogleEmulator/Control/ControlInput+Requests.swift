import EmulatorServer
import StrictJSON

extension ControlInput {
    mutating func linkRequest() throws(EmulatorError) -> LinkRequest {
        var request = LinkRequest()
        request.mode = try word("mode", AccountLink.Mode.self) ?? .browser
        guard request.mode != .streamlined else {
            throw EmulatorError(
                .memberMalformed, detail: "mode: browser or app_flip; see control/streamlined")
        }
        request.scope = try string("scope", maximum: 2048)
        request.userLocale = try string("user_locale", maximum: 64)
        request.loginHint = try string("login_hint", maximum: 320)
        request.usesPKCE = try bool("pkce") ?? true
        request.redirectURI = try string("redirect_uri", maximum: 2048)
        return request
    }

    mutating func account() throws(EmulatorError) -> GoogleAccount {
        var account = GoogleAccount()
        if let subject = try string("sub", maximum: 255) { account.subject = subject }
        if let email = try string("email", maximum: 320) { account.email = email }
        if let isVerified = try bool("email_verified") { account.isEmailVerified = isVerified }
        account.hostedDomain = try string("hd", maximum: 255)
        return account
    }

    mutating func fault(at place: FaultPlace) throws(EmulatorError) -> GoogleFault {
        var fault = GoogleFault()
        fault.delayMilliseconds = try integer("delay_ms", in: 0...GoogleFault.maximumDelay) ?? 0
        fault.status = try integer("status", in: 200...599).map { Int($0) }
        fault.loss = try word("lose", GoogleFault.Loss.self)
        fault.remainingRequests = try integer("times", in: 1...1_000_000).map { Int($0) }
        guard place == .token ? fault.status == nil : fault.loss == nil else {
            throw EmulatorError(
                .memberMalformed, detail: "status is for Google's own endpoints, lose is for token")
        }
        return fault
    }
}
