import EmulatorServer
import HTTPTypes

/// The page for another request that the fake refuses, such as one of an unknown path.
struct RefusalPage {
    let error: EmulatorError

    var response: EndpointResponse {
        PageFrame(
            title: "Not possible", template: "refusal",
            values: ["code": "\(error.code.name)", "detail": error.detail], status: error.code.status.code
        ).response
    }
}

/// The page for a request that Apple would refuse. As at Apple, nothing is sent to the app.
struct ErrorPage {
    let refusal: OAuthError

    var response: EndpointResponse {
        PageFrame(
            title: "Cannot sign in", template: "failed",
            values: ["code": refusal.code.rawValue, "cause": refusal.cause], status: refusal.code.status
        ).response
    }
}
