import AppleAccounts
import Commits
import SignIn

extension SignInUseCases {
    /// Signs in and returns when the sign-in is durable.
    @discardableResult
    func commitSignIn(_ request: SignInRequest, allowed: AppScope = .all) async throws -> SignInOutcome {
        try await commits.submit(signIn(request, allowed: allowed).value)
    }

    /// Receives a notification and returns when it is durable.
    @discardableResult
    func commitNotification(_ payload: String) async throws -> NotificationReceipt {
        try await commits.submit(receiveNotification(payload: payload).value)
    }
}
