/// The second step of `/auth/authorize`: the values that the app may see, and consent.
struct ConsentPage {
    private let page: String
    private let clientID: String
    private let explanation: String
    private let person: UserLine
    private let subject: String
    private let asksName: Bool
    private let asksEmail: Bool
    private let firstName: String
    private let lastName: String
    private let email: String
    private let hidesEmail: Bool
    private let formTargets: String?

    /// - Parameter isFirst: True at the first authorization, the only time that Apple asks what to share.
    init(page: String, request: AuthorizationRequest, user: EmulatedUser, isFirst: Bool) {
        (self.page, clientID, formTargets) = (page, request.clientID, request.formTargets)
        explanation = Self.explanation(of: request, isFirst: isFirst)
        (person, subject) = (UserLine(user), user.subject)
        (asksName, asksEmail) = (isFirst && request.wantsName, isFirst && request.wantsEmail)
        (firstName, lastName) = (user.firstName ?? "", user.lastName ?? "")
        (email, hidesEmail) = (user.email ?? "none", user.hidesEmail)
    }

    var response: EndpointResponse {
        PageFrame(title: "Sign in", template: "consent", values: self, formTargets: formTargets).response
    }

    private static func explanation(of request: AuthorizationRequest, isFirst: Bool) -> String {
        guard isFirst else { return "You have used this app before. It gets no new data." }
        switch (request.wantsName, request.wantsEmail) {
        case (true, true): return "The app requests your name and your e-mail address, only this first time."
        case (true, false): return "The app requests your name, only this first time."
        case (false, true): return "The app requests your e-mail address."
        case (false, false): return "The app requests no personal data."
        }
    }
}
