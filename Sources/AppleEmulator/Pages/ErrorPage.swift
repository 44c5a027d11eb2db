/// The page for a request that Apple would refuse. As at Apple, nothing is sent to the app.
struct ErrorPage {
    let refusal: OAuthError

    var response: EndpointResponse {
        PageFrame(
            title: "Cannot sign in", template: "refusal",
            values: ["code": refusal.code.rawValue, "cause": refusal.cause], status: refusal.code.status
        ).response
    }
}
